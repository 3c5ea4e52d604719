"""Writes the files that the specs on data read: the same rows in each format, plain and compressed, and a text."""
import gzip
import os
import struct
import sys
import zipfile

folder = sys.argv[1]
rows = [[3 * i + k for k in range(4)] + [i % 3] for i in range(7)]

text = "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
pixels = struct.pack(">BBBBIII", 0, 0, 8, 3, 7, 2, 2) + bytes(x for row in rows for x in row[:4])
kinds = struct.pack(">BBBBI", 0, 0, 8, 1, 7) + bytes(row[4] for row in rows)

for name, data in (("rows.csv", text), ("pixels.idx", pixels), ("kinds.idx", kinds)):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
    with gzip.open(os.path.join(folder, name + ".gz"), "wb") as file:
        file.write(data)


def npy(descr, shape, values, fortran=False):
    """A file of numpy's format, version 1; `values` are packed and in the file's order."""
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + values


images = [row[:4] for row in rows]
plain = npy("<f4", (7, 2, 2), struct.pack("<28f", *sum(images, [])))
# The first index fastest, then the second.
columns = [images[i][2 * j + k] for k in range(2) for j in range(2) for i in range(7)]
fortran = npy(">f8", (7, 2, 2), struct.pack(">28d", *columns), fortran=True)
labels = npy("|u1", (7,), bytes(row[4] for row in rows))
odd = npy("|b1", (7,), bytes(row[0] % 2 for row in rows))
others = npy("<f4", (2, 2), struct.pack("<4f", 1, 2, 3, 4))
for name, data in (("x.npy", plain), ("fortran.npy", fortran), ("kind.npy", labels)):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
with zipfile.ZipFile(os.path.join(folder, "rows.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in (("image", fortran), ("kind", labels), ("odd", odd), ("others", others)):
        archive.writestr(name + ".npy", data)
with gzip.open(os.path.join(folder, "digits.txt.gz"), "wb") as file:
    file.write(b"0123456789" * 10)
