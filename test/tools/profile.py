"""What `dync run --profile` says, held against the program that ran.

    profile.py TEST DYNC SPEC FOLDER
"""
import json
import os
import re
import shutil
import subprocess
import sys

# Times are whole ticks of one clock, taken from each other: their sum is the whole but for roundings of doubles.
TOLERANCE = 1e-9


def check(good, why):
    if not good:
        sys.exit(f"profile: {why}")


def dync(*arguments, status=0):
    done = subprocess.run([DYNC, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, DYN_CACHE_DIR=os.path.join(FOLDER, "cache")))
    check(done.returncode == status, f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def profile(name, *options):
    """The table and the JSON of a run."""
    table = dync("run", SPEC, "--quiet", "--profile", "--out", os.path.join(FOLDER, name), *options)
    with open(os.path.join(FOLDER, name, "profile.json")) as file:
        made = json.load(file)
    parts = made["parts"]
    check(abs(sum(part["share"] for part in parts) - 1) < TOLERANCE, "the shares do not sum to 1")
    check(abs(sum(part["seconds"] for part in parts) - made["seconds"]) < TOLERANCE * made["seconds"],
          "the times do not sum to the whole")
    check(all(part["seconds"] >= 0 for part in parts), "a part took less than no time")
    check([part["seconds"] for part in parts] == sorted((part["seconds"] for part in parts), reverse=True),
          "the longest is not first")
    for part in parts:
        if part["calls"] and part["seconds"]:
            speed = part["flops"] * part["calls"] / part["seconds"]
            check(abs(speed - part["flops_per_second"]) <= 1e-9 * speed, f"{part} has another speed")
        check(part["calls"] == 0 or part["what"] in table, f"{part['what']} is not in the table\n{table}")
    return table, made


def functions():
    """Ops of each function of the program at the stage `kernels`: how many of each kind."""
    text = dync("emit", SPEC, "--stage=kernels")
    counted = {}
    for part in re.split(r"^  func\.func @", text, flags=re.MULTILINE)[1:]:
        name = part[:part.index("(")]
        if name.startswith("data_"):
            continue
        loops = [line for line in part.split("\n") if "kernel.fused" in line]
        counted[name] = {"fused": sum(" epilogue(" not in line for line in loops), "product": part.count("kernel.product"),
                         "metric": part.count("run.emit")}
    return counted


def kernels():
    table, made = profile("kernels", "--threads", "1")
    for function, counts in functions().items():
        for kind, count in counts.items():
            seen = [part for part in made["parts"] if part["kind"] == kind and part["function"] == function]
            check(len(seen) == count, f"{function} has {count} of {kind}, and the profile {len(seen)}")
    update = [part for part in made["parts"] if part["function"] == "update" and part["kind"] in ("fused", "product")]
    check(len(update) > 10, f"only {len(update)} kernels in an update")
    for part in update:
        check(part["calls"] == made["steps"], f"{part['what']}: {part['calls']} calls in {made['steps']} steps")
        isBatch = part["what"].endswith(": gather")  # the rows of the batch come from no line
        check((part["spec"] or isBatch) and part["bytes"] > 0, f"{part} has no place or moves nothing")
        check(0 < part["of_limit"], f"{part} is nowhere near the machine's limit")
    product = [part for part in update if part["what"].startswith("matmul 64 x 64 x 128")]
    check(product and all(part["flops"] >= 2 * 64 * 64 * 128 for part in product), "the first product's operations")
    places = {place for part in made["parts"] for place in part["spec"]}
    check(any(place.startswith("stdlib/optimizers/adamw.dyn:") for place in places), f"no kernel of the rule: {places}")
    check({"loss", "test.accuracy"} <= {part["what"] for part in made["parts"] if part["kind"] == "metric"}, "metrics")
    check(re.match(r"profile of timed: [\d.]+ ms, \d+ updates, 1 thread; taking the time cost [\d.]+ ms of it\nlimits: ",
                   table), table)
    # A line more above: the same program, at other places.
    moved = os.path.join(FOLDER, "moved.dyn")
    with open(SPEC) as file, open(moved, "w") as to:
        data = os.path.abspath(os.path.dirname(SPEC))
        to.write("# A line more.\n" + file.read().replace('csv("', f'csv("{data}/'))
    dync("run", moved, "--quiet", "--profile", "--out", os.path.join(FOLDER, "moved"))
    with open(os.path.join(FOLDER, "moved", "profile.json")) as file:
        after = {place for part in json.load(file)["parts"] for place in part["spec"]}
    lines = lambda all, name: sorted(int(place.rsplit(":", 1)[1]) for place in all if name in place)
    check(lines(after, "moved.dyn") == [line + 1 for line in lines(places, "mlp.dyn") if "mlp.dyn"] or
          lines({p for p in after if "stdlib" not in p}, "moved.dyn") ==
          [line + 1 for line in lines({p for p in places if "stdlib" not in p}, "mlp.dyn")], "places did not move")


def bits():
    def left(name, *options):
        dync("run", SPEC, "--quiet", "--out", os.path.join(FOLDER, name), *options)
        return [open(os.path.join(FOLDER, name, file), "rb").read() for file in ("final.safetensors", "metrics.jsonl")]

    plain = left("plain")
    check(left("profiled", "--profile") == plain, "a profiled run has other bits")
    check(left("again", "--profile", "--threads", "2") == plain, "a profiled run of two threads has other bits")
    check(left("after") == plain, "a run after a profiled one has other bits")
    check(not os.path.exists(os.path.join(FOLDER, "after", "profile.json")), "a run that nobody profiled has a profile")


def numbers():
    first, second = (profile(f"seed{seed}", "--seed", seed)[1]["parts"] for seed in ("1", "2"))
    names = lambda parts: sorted((part["kind"], part["what"]) for part in parts)
    check(names(first) == names(second), "code from the cache, for other numbers, has other parts")


def refusals():
    folder = os.path.join(FOLDER, "refused")
    os.makedirs(os.path.join(folder, "profile.json"))
    said = dync("run", SPEC, "--quiet", "--profile", "--out", folder, status=1)
    check(f"error: cannot write `{folder}/profile.json`: Is a directory [E0611]" in said, said)
    check("--interpret excludes --profile" in dync("run", SPEC, "--profile", "--interpret", status=108), "with --interpret")
    check("--target excludes --profile" in dync("run", SPEC, "--profile", "--target=cuda", status=108), "with --target")


def loops():
    _, made = profile("loops")
    parts = made["parts"]
    scans = [part for part in parts if part["kind"] == "loop"]
    check(scans and all(part["what"] == "scan of 40 passes: its own" and part["calls"] == made["steps"] for part in scans),
          f"loops {scans}")
    inside = [part for part in parts if part["calls"] == 40 * made["steps"]]
    check(inside, "nothing is timed inside of the loops")


TEST, DYNC, SPEC, FOLDER = sys.argv[1:]
shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
{"kernels": kernels, "bits": bits, "numbers": numbers, "refusals": refusals, "loops": loops}[TEST]()
