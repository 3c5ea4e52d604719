#!/usr/bin/env python3
"""Takes every optimizer and clip of the standard library to a GPU, found by listing its folders.

  gpu_rules.py assemble DYNC PTXAS TARGET...     PTX through ptxas: no spills, registers within a bound
  gpu_rules.py emulate DYNC DYN_RUN_ND           kernels run on the host, block by block: the bits of the plain pipeline

Rules with a construct that has no code for a GPU yet are named below with what the compiler says of it; one that is
refused for another reason, or no longer, fails the test.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

STDLIB = pathlib.Path(__file__).resolve().parents[2] / "stdlib"
REFUSED = {
    **dict.fromkeys(("adamuon", "apollo", "muon", "normuon", "scion"), "a matrix product"),
    "adagrad_full": "a `for` that carries values",
    "armijo": "`while`",
    **dict.fromkeys(("adahessian", "layerwise", "madgrad"), "a power whose exponent is a value"),
    "autoclip": "a write or a gradient at an index",
    "mgup": "an array of literals",
    "polyak_step": "an `if` of which only one side may run",
}
# Rules that ask for more than gradients, which a rule alone has not.
NEED_DATA = {"pcngd", "vr_sgd"}
# Fused with what follows it, a normal draw rounds otherwise than where it is an array of its own, as it is for a device.
OTHER_BITS = {"langevin"}
MOST_REGISTERS = 64
# Two leaves: one with a tail after whole vectors, and more than one block of a reduction.
SHAPES = {0: "[64, 32], [100, 101]", 1: "[100], [31]", 2: "[64, 32], [100, 101]"}


def rules():
    for folder in ("optimizers", "clips"):
        for file in sorted((STDLIB / folder).glob("*.dyn")):
            if file.stem in NEED_DATA:
                continue
            if re.search(rf"^(optimizer|clip) {file.stem}\b", file.read_text(), re.M):
                yield file
            else:
                sys.exit(f"{file}: no rule of the file's name")


def emit(dync, file, *options):
    head = re.search(rf"^(?:optimizer|clip) {file.stem}\b[^{{]*? on \[(.*?)\] {{", file.read_text(), re.M | re.S)
    shapes = SHAPES[head.group(1).count(",") + 1 if head else 0]
    command = [dync, "emit", str(file), "--rule", f"{file.stem} on {shapes}", *options]
    return subprocess.run(command, capture_output=True, text=True)


def check_refusal(file, result):
    """True for a rule that is refused as REFUSED says; anything else of it is a failure."""
    reason = REFUSED.get(file.stem)
    if reason is None:
        return False
    if result.returncode == 0 or f"{reason} has no code for a GPU yet" not in result.stderr:
        sys.exit(f"{file.stem} is not refused for {reason}:\n{result.stderr}")
    print(f"{file.stem}: refused, {reason}")
    return True


def assemble(dync, ptxas, targets):
    for file in rules():
        for target in targets:
            result = emit(dync, file, "--stage=ptx", f"--target={target}")
            if check_refusal(file, result):
                continue
            if result.returncode:
                sys.exit(f"{file.stem}, {target}: {result.stderr}")
            with tempfile.TemporaryDirectory() as folder:
                source = pathlib.Path(folder) / "kernels.ptx"
                source.write_text(result.stdout)
                said = subprocess.run([ptxas, "-v", f"-arch={target}", str(source), "-o", f"{folder}/kernels.cubin"],
                                      capture_output=True, text=True)
            if said.returncode:
                sys.exit(f"{file.stem}, {target}: ptxas refuses it\n{said.stderr}")
            kernels = len(re.findall(r"\.visible \.entry", result.stdout))
            spills = [int(x) for x in re.findall(r"(\d+) bytes spill", said.stderr)]
            registers = [int(x) for x in re.findall(r"Used (\d+) registers", said.stderr)]
            if not kernels or len(registers) != kernels or len(spills) != 2 * kernels:
                sys.exit(f"{file.stem}, {target}: {kernels} kernels, but ptxas said\n{said.stderr}")
            if any(spills) or max(registers) > MOST_REGISTERS:
                sys.exit(f"{file.stem}, {target}: spills {spills}, registers {registers}")
            print(f"{file.stem}, {target}: {kernels} kernels, at most {max(registers)} registers, no spills")


def emulate(dync, run_nd):
    for file in rules():
        result = emit(dync, file, "--stage=nd")
        if result.returncode:
            sys.exit(f"{file.stem}: {result.stderr}")
        bits = []
        for option in ([], ["--emulate"]):
            ran = subprocess.run([run_nd, "--function=update", "--bits", *option, "-"], input=result.stdout, capture_output=True, text=True)
            if option and check_refusal_of_emulation(file, ran):
                break
            if ran.returncode or "arena" not in ran.stdout:
                sys.exit(f"{file.stem} {option}: {ran.stdout}{ran.stderr}")
            bits.append(ran.stdout)
        else:
            if (bits[0] != bits[1]) != (file.stem in OTHER_BITS):
                sys.exit(f"{file.stem}: other bits as kernels of a device\n{bits[0]}\n{bits[1]}")
            print(f"{file.stem}: {'other' if file.stem in OTHER_BITS else 'the same'} bits")


def check_refusal_of_emulation(file, ran):
    reason = REFUSED.get(file.stem)
    if reason is None:
        return False
    if ran.returncode == 0 or f"no code for a device: {reason}" not in ran.stderr:
        sys.exit(f"{file.stem} is not refused for {reason}:\n{ran.stderr}")
    return True


if __name__ == "__main__":
    if sys.argv[1] == "assemble":
        assemble(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        emulate(sys.argv[2], sys.argv[3])
