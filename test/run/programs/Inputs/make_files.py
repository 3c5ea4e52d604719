"""Writes the files that data_files.dyn reads: the same rows as csv and idx, plain and compressed."""
import gzip
import os
import struct
import sys

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
