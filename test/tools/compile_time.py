"""Laws of the compiler's cost, on what `dync run --time` prints.

    compile_time.py TEST DYNC SPEC

`extents` and `layers` need hyperparameters `width` and `depth`. Counts of operations are exact, so they are compared
where milliseconds of a busy machine would say nothing.
"""
import re
import resource
import subprocess
import sys


class Compilation:
    """One run of the spec: operations after each stage, bytes of the object, seconds of the processor, and milliseconds
    of each stage with those of its passes."""

    def __init__(self, dync, spec, **sets):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [dync, "run", spec, "--quiet", "--no-cache", "--time", "--threads", "1"]
        for name, value in sets.items():
            command += ["--set", f"{name}={value}"]
        done = subprocess.run(command, capture_output=True, text=True)
        check(done.returncode == 0, f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime - before.ru_utime
        self.ops = {name: int(count) for name, count in re.findall(r"ms  (\w+) +(\d+) ops$", done.stderr, re.MULTILINE)}
        self.stages = []
        row = r"^ *([\d.]+) ms  ( *)(\S.*?)(?: +\d+ ops)?$"
        for milliseconds, indent, name in re.findall(row, done.stderr, re.MULTILINE):
            if indent:
                self.stages[-1][2].append(float(milliseconds))
            else:
                self.stages.append((name, float(milliseconds), []))
        self.bytes = int(re.search(r"^objects: 1 generated, 0 kept, (\d+) bytes$", done.stderr, re.MULTILINE).group(1))
        check(list(self.ops) == ["elaborate", "batch", "differentiate", "expand", "fuse", "memory", "lower"],
              f"stages {list(self.ops)}")


def check(good, why):
    if not good:
        print("FAILED:", why)
        sys.exit(1)


def extents(dync, spec):
    """64 and 64,000 units: the same operations at every stage, an object of about the same size."""
    small, large = (Compilation(dync, spec, width=width, depth=1) for width in (64, 64000))
    print("operations:", small.ops, large.ops)
    print("bytes:", small.bytes, large.bytes)
    for stage in small.ops:
        # Loops worth more than one thread are called through the runtime: a few operations for each.
        allowed = 0.02*small.ops[stage] if stage == "lower" else 0
        check(abs(small.ops[stage] - large.ops[stage]) <= allowed, f"the operations after `{stage}` differ")
    # The same calls; and sizes are literals in instructions, of one to eight bytes.
    check(abs(small.bytes - large.bytes) <= 0.05*small.bytes, "the objects differ by more than 5 %")


def layers(dync, spec):
    """Twice the layers add twice the operations, and at most twice the time with a margin for what is fixed."""
    depths = (8, 16, 32, 64)
    made = {depth: Compilation(dync, spec, depth=depth) for depth in depths}
    for depth, one in made.items():
        print(f"{depth:3} layers: {one.seconds:.2f} s, {one.bytes} bytes, {one.ops}")
    for stage in made[8].ops:
        counts = [made[depth].ops[stage] for depth in depths]
        grown = [b - a for a, b in zip(counts, counts[1:])]
        for less, more in zip(grown, grown[1:]):
            check(more <= 2.05*less + 8, f"operations after `{stage}` are not linear in the layers: {counts}")
    # Four times the layers: a square would take sixteen times as long.
    check(made[64].seconds <= 6*made[16].seconds, "the time grows faster than the layers")


def passes(dync, spec):
    """The passes of a stage take no longer than the stage, so none is counted twice, and are most of a long one."""
    for name, whole, parts in Compilation(dync, spec).stages:
        print(f"{name}: {whole} ms, passes {parts}")
        rounded = 0.01*(len(parts) + 1)
        check(sum(parts) <= whole + rounded, f"the passes of `{name}` take longer than the stage")
        if name in ("expand", "fuse", "memory", "lower"):
            check(len(parts) >= 2 and sum(parts) > 0.2*whole - rounded, f"`{name}` is not the sum of its passes")


if __name__ == "__main__":
    {"extents": extents, "layers": layers, "passes": passes}[sys.argv[1]](*sys.argv[2:])
