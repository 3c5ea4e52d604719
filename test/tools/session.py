"""What a run of dync leaves and how it ends; each test of test/run/session names one of the functions below.

    session.py TEST DYNC SPEC FOLDER

SPEC is run as it is and with lines added or changed; FOLDER is emptied first.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time


class Session:
    def __init__(self, dync, spec, folder):
        self.dync, self.spec, self.folder = dync, spec, folder
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(spec) as file:
            self.text = file.read()
        self.environment = dict(os.environ, DYN_CACHE_DIR=self.path("cache"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *options, spec=None, status=0, environment=None):
        """Runs to the end; standard error. Any other exit status than `status` fails the test."""
        done = subprocess.run([self.dync, "run", spec or self.spec, *options], capture_output=True, text=True,
                              env=dict(self.environment, **(environment or {})))
        if done.returncode != status:
            fail(f"{' '.join(options)}: exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done.stderr

    def variant(self, name, change):
        """The spec with another text, beside its data."""
        text = change(self.text)
        if text == self.text:
            fail(f"{name}: nothing changed")
        text = text.replace('csv("', f'csv("{os.path.abspath(os.path.dirname(self.spec))}/')
        with open(self.path(name + ".dyn"), "w") as file:
            file.write(text)
        return self.path(name + ".dyn")

    def results(self, name, *options, spec=None):
        """Bytes of what a run leaves."""
        self.run("--quiet", "--out", self.path(name), *options, spec=spec)
        return [read(self.path(name), file) for file in ("final.safetensors", "metrics.jsonl")]

    def code(self, *options, spec=None, environment=None):
        """Where the code of a run came from, as `--time` says it."""
        errors = self.run("--quiet", "--time", *options, spec=spec, environment=environment)
        return re.search(r"^code: (.*)$", errors, re.MULTILINE).group(1)


def read(folder, file):
    with open(os.path.join(folder, file), "rb") as stream:
        return stream.read()


def fail(why):
    print("FAILED:", why)
    sys.exit(1)


def check(good, why):
    if not good:
        fail(why)


def added(line):
    """Adds a line at the end of the last train."""
    return lambda text: text.rstrip().removesuffix("}") + "  " + line + "\n}\n"


def edited(old, new):
    return lambda text: text.replace(old, new, 1)


def samples(content):
    """Lines of a metrics.jsonl, each of exactly the keys that it may have."""
    check(content.endswith(b"\n"), "the last line is whole")
    lines = [json.loads(line) for line in content.splitlines()]
    for line in lines:
        check(list(line)[:5] == ["run", "metric", "clock", "at", "value"] and set(list(line)[5:]) <= {"axes"},
              f"keys {list(line)}")
        check(isinstance(line["at"], int) and line["clock"] in ("step", "epoch"), f"clock of {line}")
    return lines


def tensors(content):
    """Shapes of a final.safetensors, whose length fits its header."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    check(len(content) == 8 + size + max(t["data_offsets"][1] for t in header.values()), "length of the safetensors")
    return {name: tensor["shape"] for name, tensor in header.items()}


# --- tests -----------------------------------------------------------------------------------------------------------

def determinism(s):
    """Bits depend on spec and seed, not on threads, on the cache, or on what else is measured."""
    first = s.results("one", "--threads", "1")
    for threads in ("2", "3"):
        check(s.results("threads" + threads, "--threads", threads) == first, f"{threads} threads give other bits")
    check(s.results("fresh", "--no-cache") == first, "code made anew gives other bits")
    check(s.results("seeded", "--seed", "7")[0] != first[0], "another seed gives the same bits")
    for name, change in {
        "local": edited("train ", "half = 0.5\n\ntrain "),
        "used": lambda text: added("probe scaled_size() every 5 steps")(
            edited("train ", "probe scaled_size() { emit scaled = 2*norm(params) }\n\ntrain ")(text)),
        "drawing": lambda text: added("probe noise() every 3 steps")(
            edited("train ", "probe noise() { emit drawn = sum(draw(normal(0.0, 1.0), shape=[100])) }\n\ntrain ")(text)),
        "eval": added("eval again = digits.test every 7 steps { wrong = argmax(net(image)) != label }"),
        "moved": lambda text: "# A comment.\n\n" + text,
    }.items():
        check(s.results(name, spec=s.variant(name, change))[0] == first[0], f"{name}: parameters have other bits")


def cache(s):
    """What does not change the program is not compiled again; what does, is."""
    check(s.code() == "generated", "an empty cache holds nothing")
    check(s.code() == "kept, by the spec's text", "a second run needs no compiler")
    check(s.code("--threads", "1") == "kept, by the spec's text", "threads are no part of a program")
    for name, change in {
        "rate": edited("lr=cosine(3e-3", "lr=cosine(4e-3"),
        "warmup": edited("warmup=4", "warmup=5"),
        "eps": edited("eps=1e-8", "eps=2e-8"),
        "epochs": edited("epochs    3", "epochs    2"),
        "seed": edited("seed      0", "seed      1"),
        "bound": edited("by_global_norm(1.0)", "by_global_norm(0.75)"),
        "literal": edited("1e-5*l2", "2.5e-5*l2"),
        "steps": edited("epochs    3", "steps     30"),
        "comment": lambda text: "# moved\n" + text,
    }.items():
        found = s.code(spec=s.variant(name, change))
        check(found == "kept, by the program", f"{name}: code was {found}")
    check(s.code("--seed", "3") == "kept, by the program", "a seed is a number of the run")
    check(s.code("--set", "reg=0.5") == "kept, by the program", "--set of a number")
    for name, change in {
        "width": edited("mlp(32", "mlp(48"),
        "batch": edited("batch 64", "batch 32"),
        "rule": edited("adamw(lr=cosine(3e-3, warmup=4), eps=1e-8)", "sgd(lr=0.1)"),
    }.items():
        check(s.code(spec=s.variant(name, change)) == "generated", f"{name} is another program")


def units(s):
    """An edit of one rule compiles its kernel and the function that calls it, and damaged units are made again."""
    def units_of(spec=None):
        errors = s.run("--quiet", "--time", spec=spec)
        return tuple(map(int, re.search(r"^units: (\d+) generated, (\d+) kept$", errors, re.MULTILINE).groups()))

    generated, kept = units_of()
    check(generated > 10 and kept == 0, f"an empty cache: {generated} generated, {kept} kept")
    specs = {name: s.variant(name, change) for name, change in {
        "rule": edited("param - lr*v", "param - lr*sign(v)"),
        "state": edited("beta*v + grad", "beta*v + (1 - beta)*grad"),
        "clip": edited("by_global_norm(1.0)", "by_value(0.1)"),
    }.items()}
    for name, spec in specs.items():
        made, reused = units_of(spec)
        most = 2 if name == "rule" else 4  # a clip, or another factor of the gradient, changes the loop before as well
        check(1 <= made <= most and reused >= generated - 3, f"{name}: {made} units generated, {reused} kept")
        check(s.results(name + "-kept", spec=spec) == s.results(name + "-new", "--no-cache", spec=spec),
              f"{name}: units from the cache have other bits")
    # Every entry damaged: each is found out, and the program is made again as it was.
    before = s.results("before")
    cache = s.path("cache")
    for name in os.listdir(cache):
        with open(os.path.join(cache, name), "r+b") as file:
            file.seek(-5, os.SEEK_END)
            byte = file.read(1)
            file.seek(-5, os.SEEK_END)
            file.write(bytes([byte[0] ^ 1]))
    check(units_of() == (generated, kept), "a damaged unit was used")
    check(s.results("after") == before, "another program was made from a damaged cache")


def dependencies(s):
    """A warm start notices every file that the program was made from."""
    data = s.path("rows.csv")
    def rows(count):
        with open(data, "w") as file:
            file.writelines(f"{i % 7},{i % 2}\n" for i in range(count))
    def library(scale):
        with open(s.path("library.dyn"), "w") as file:
            file.write(f"fn scaled(x: real) -> real = {scale}*x\n")
    rows(20)
    library("1.5")
    with open(s.path("main.dyn"), "w") as file:
        file.write(s.text)
    spec = s.path("main.dyn")
    check(s.code(spec=spec) == "generated", "first run")
    first = s.results("one", spec=spec)
    check(s.code(spec=spec) == "kept, by the spec's text", "second run")
    check(s.results("two", spec=spec) == first, "a warm start gives other bits")
    library("2.5")
    check(s.code(spec=spec) == "kept, by the program", "a used file changed a number")
    check(s.results("three", spec=spec)[0] != first[0], "the number of a used file does not count")
    library("0.5*x")
    check(s.code(spec=spec) == "generated", "a used file changed the program")
    library("1.5")
    rows(30)
    check(s.code(spec=spec) == "generated", "rows were added")
    os.remove(data)
    s.run("--quiet", spec=spec, status=1)


def damage(s):
    """An entry that is not whole is made again and gives the same bits; a folder without room only warns."""
    first = s.results("whole")
    folder = s.path("cache")
    def entries():
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".dyno")]
    check(len(entries()) > 2, "an entry a level, and one a unit")
    def flipped(content, at):
        return content[:at] + bytes([content[at] ^ 64]) + content[at + 1:]
    for name, harm in {
        "cut": lambda content: content[:len(content) // 2],
        "flipped": lambda content: flipped(content, len(content) - 100),
        "flipped plan": lambda content: flipped(content, 200),
        "flipped header": lambda content: flipped(content, 20),
        "empty": lambda content: b"",
        "garbage": lambda content: bytes(range(256)) * 40,
        "longer": lambda content: content + b"x",
    }.items():
        for path in entries():
            content = read("", path)
            with open(path, "wb") as file:
                file.write(harm(content))
        check(s.code() == "generated", f"{name}: a damaged entry was used")
        check(s.results("again") == first, f"{name}: made again, other bits")
    # A file where the folder should be: nothing can be written, whoever runs this.
    with open(s.path("file"), "w"):
        pass
    errors = s.run("--quiet", "--out", s.path("uncached"), environment={"DYN_CACHE_DIR": s.path("file")})
    check(errors.count("warning: compiled programs are not kept") == 1, "one warning: " + errors)
    check(read(s.path("uncached"), "final.safetensors") == first[0], "without a cache, other bits")
    shutil.rmtree(folder)
    together = [subprocess.Popen([s.dync, "run", s.spec, "--quiet", "--out", s.path(f"of{i}")], env=s.environment,
                                 stderr=subprocess.PIPE) for i in range(4)]
    for i, process in enumerate(together):
        errors = process.communicate()[1]
        check(process.returncode == 0 and not errors, f"four at once: {errors}")
        check(read(s.path(f"of{i}"), "final.safetensors") == first[0], "four at once: other bits")
    check(not [name for name in os.listdir(folder) if name.startswith(".new-")], "something was left behind")


def interrupt(s):
    """Ctrl-C ends a run after its step: the files are whole. In an experiment it ends all of it."""
    def two_trains(text):
        start, end = text.index("train endless"), text.index("experiment")
        return text[:end] + text[start:end].replace("endless", "second")
    trains = s.variant("trains", two_trains)
    for program, run, command in (("endless", "", [s.spec, "endless"]), ("whole", "first", [s.spec, "whole"]),
                                  ("trains", "endless", [trains])):
        for attempt in ("cold", "warm"):
            out = s.path(program + "-" + attempt)
            process = subprocess.Popen([s.dync, "run", *command, "--quiet", "--out", out], env=s.environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            metrics = os.path.join(out, run, "metrics.jsonl")
            waited = time.time()
            while not (os.path.exists(metrics) and os.path.getsize(metrics) > 1000):
                check(time.time() - waited < 60 and process.poll() is None, "the run does not start")
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            errors = process.communicate(timeout=60)[1]
            check(process.returncode == 130, f"{program}, {attempt}: exit status {process.returncode}: {errors}")
            stopped = int(re.search(r"interrupted after step (\d+)", errors).group(1))
            losses = [line for line in samples(read("", metrics)) if line["metric"] == "loss"]
            check([line["at"] for line in losses] == list(range(stopped)), f"losses up to step {stopped}")
            check(tensors(read(os.path.dirname(metrics), "final.safetensors")) == {"p.x": [4]}, "parameters")
            check(not os.path.exists(os.path.join(out, "second")), "a run after the interrupted one")
    # A step that takes for ever: the first signal waits for its end, the second does not.
    process = subprocess.Popen([s.dync, "run", s.spec, "stuck", "--quiet"], env=s.environment)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    check(process.poll() is None, "the step was not waited for")
    process.send_signal(signal.SIGINT)
    check(process.wait(timeout=20) == 130, f"exit status {process.returncode} after the second signal")


def sweep_members(s):
    """A member's files are those of a run alone, whatever its company and the threads; each has a folder of its own."""
    def members(name, *options, experiment="every"):
        s.run(experiment, "--quiet", "--out", s.path(name), *options)
        index = json.load(open(s.path(name + "/s/sweep.json")))
        return index, {member["folder"]: [read(s.path(f"{name}/s/{member['folder']}"), file)
                                          for file in ("final.safetensors", "metrics.jsonl")] for member in index["members"]}
    index, first = members("one", "--threads", "1")
    names = [f"width={width},seed={seed}" for width in (7, 12) for seed in range(3)]
    check(list(first) == names and sorted(os.listdir(s.path("one/s"))) == sorted(names + ["sweep.json"]), f"folders {list(first)}")
    check(len({files[0] for files in first.values()}) == 6, "two members have the same parameters")
    check(index["axes"] == [{"name": "width", "labels": [7, 12]}, {"name": "seed", "labels": [0, 1, 2]}], f"axes {index['axes']}")
    for member in index["members"]:
        lines = samples(first[member["folder"]][1])
        last = [line["value"] for line in lines if line["metric"] == "loss"][-1]
        check(member["outcome"] == "finished" and member["steps"] == 72 and abs(member["last"]["loss"] - last) < 1e-6*last,
              f"what the index says of {member['folder']}: {member}")
        check({line["run"] for line in lines} == {"s/" + member["folder"]}, "the run's name in its metrics")
    for threads in ("2", "3"):
        check(members("threads" + threads, "--threads", threads)[1] == first, f"{threads} threads give other bits")
    for name, files in members("backwards", experiment="backwards")[1].items():
        check(files == first[name], f"in another order {name} has other bits")
    check(members("alone", experiment="alone")[1] == {"width=7,seed=1": first["width=7,seed=1"]}, "alone, other bits")
    s.run("single", "--quiet", "--out", s.path("single"))
    check(read(s.path("single/r"), "final.safetensors") == first["width=12,seed=2"][0], "as a run, other bits")
    labels = members("labels", experiment="labels")[0]["members"]
    folders = [member["folder"] for member in labels]
    check(len(set(folders)) == 3 and not any("/" in folder for folder in folders), f"folders {folders}")
    check([member["labels"] for member in labels] == [{"optimizer": f"sgd(lr={rate})"} for rate in ("1/2", "1*2", "0.5")], f"labels {labels}")
    with open(s.path("file"), "w"):
        pass
    errors = s.run("every", "--quiet", "--out", s.path("file"), status=1)
    check("E0611" in errors and s.path("file") in errors, errors)
    # What `--set` and `--seed` mean: a hyperparameter of the experiment, and the seed of members that name none.
    s.run("settable", "--quiet", "--set", "widest=12", "--seed", "2", "--out", s.path("set"))
    check(read(s.path("set/s/width=12"), "final.safetensors") == first["width=12,seed=2"][0], "--set and --seed")


def sweep_interrupt(s):
    """Ctrl-C ends a sweep with 130; members that were finished are kept, and nothing runs after."""
    out = s.path("out")
    process = subprocess.Popen([s.dync, "run", s.spec, "--quiet", "--threads", "1", "--out", out], env=s.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    third = os.path.join(out, "s", "length=1000000000", "metrics.jsonl")
    waited = time.time()
    while not (os.path.exists(third) and os.path.getsize(third) > 1000):
        check(time.time() - waited < 60 and process.poll() is None, "the sweep does not start")
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    check(process.returncode == 130, f"exit status {process.returncode}: {errors}")
    check("E0616" in errors and "s: interrupted after 2 of 4 members" in errors, errors)
    index = json.load(open(os.path.join(out, "s", "sweep.json")))
    found = [(member["labels"]["length"], member["outcome"]) for member in index["members"]]
    check(found == [(3, "finished"), (5, "finished"), (1000000000, "interrupted")], f"members {found}")
    for length, steps in ((3, 3), (5, 5)):
        folder = os.path.join(out, "s", f"length={length}")
        check(len(samples(read(folder, "metrics.jsonl"))) == steps, f"metrics of {length} steps")
        check(tensors(read(folder, "final.safetensors")) == {"p.x": [4]}, "parameters")
    check(not os.path.exists(os.path.join(out, "s", "length=7")) and not os.path.exists(os.path.join(out, "after")), "what came after")


def not_finite(s):
    """A run that leaves the numbers names the step and the parameter or operation; in an experiment it is an outcome."""
    line = next(i for i, text in enumerate(s.text.splitlines(), 1) if "exp(exp(" in text)
    column = s.text.splitlines()[line - 1].index("exp(exp(") + 1
    for options in ([], [], ["--interpret"]):  # compiled, warm, interpreted
        errors = s.run("overflows", "--quiet", *options, status=1)
        check("E0615" in errors and "`loss` is inf at step 0" in errors, errors)
        check("first operation that is not finite is `exp`" in errors and f"{s.spec}:{line}:{column}" in errors, errors)
        errors = s.run("diverges", "--quiet", *options, status=1)
        check("E0615" in errors and "at step 1" in errors and "`p.x` is not finite since update 1" in errors
              and "`sgd" in errors, errors)
        errors = s.run("last_update", "--quiet", *options, status=1)
        check("E0615" in errors and "`p.x` is not finite since update 1" in errors, errors)
        s.run("outcome", "--quiet", *options)


def allocations(s):
    """Nothing is allocated between steps 100 and 1100 by any thread but the metrics' writer."""
    library = os.path.join(os.path.dirname(s.dync), "..", "lib", "libno_alloc.so")
    check(os.path.exists(library), "build the target no_alloc")
    s.run("--quiet")
    for name, change in {"plain": None, "eval": edited("every 500 steps", "every 10 steps"),
                         "off": lambda text: "".join(l for l in text.splitlines(True) if "eval" not in l)}.items():
        spec = s.variant(name, change) if change else s.spec
        for threads in ("1", "3"):
            errors = s.run("--quiet", "--threads", threads, "--out", s.path("out"), spec=spec,
                           environment={"LD_PRELOAD": library})
            check("allocations between steps 100 and 1100: 0\n" in errors, f"{name}, {threads} threads: {errors}")


def metrics(s):
    """Lines of metrics.jsonl, folders of runs, and what happens when nothing can be written."""
    s.run("shapes", "--quiet", "--out", s.path("one"))
    lines = samples(read(s.path("one"), "metrics.jsonl"))
    check({line["run"] for line in lines} == {"shapes"}, "the run's name")
    value = {line["metric"]: line["value"] for line in lines}
    check(set(value) == {"loss", "size", "vector", "matrix", "whole", "test.wrong"}, f"metrics {set(value)}")
    check(isinstance(value["size"], (int, float)), "a number")
    check([x/value["size"] for x in value["vector"]] == [0, 0.5, 1], "a vector")
    check(value["matrix"] == [[0, 0.5, 1], [1, 1.5, 2]], "a matrix is its rows")
    check(value["whole"] == 3, "a whole number")
    check([line["at"] for line in lines if line["metric"] == "loss"] == list(range(6)), "each step once")
    check([line["at"] for line in lines if line["metric"] == "vector"] == [0, 2, 4, 6], "every 2 steps and after the last")
    s.run("both", "--quiet", "--out", s.path("two"))
    check(sorted(os.listdir(s.path("two"))) == ["long", "short"], "a folder a run")
    for run, steps in {"long": 9, "short": 6}.items():
        lines = samples(read(s.path("two/" + run), "metrics.jsonl"))
        check({line["run"] for line in lines} == {run}, "the run's name in an experiment")
        check(sum(line["metric"] == "loss" for line in lines) == steps, f"steps of {run}")
        check(os.path.exists(s.path(f"two/{run}/final.safetensors")), "parameters of a run")
    with open(s.path("file"), "w"):
        pass
    errors = s.run("shapes", "--quiet", "--out", s.path("file/folder"), status=1)
    check("E0611" in errors and s.path("file/folder") in errors, errors)
    errors = s.run("shapes", "--quiet", "--out", s.path("file"), status=1)
    check("E0611" in errors and s.path("file") in errors, errors)
    os.makedirs(s.path("taken/metrics.jsonl"))
    errors = s.run("shapes", "--quiet", "--out", s.path("taken"), status=1)
    check("E0611" in errors and "metrics.jsonl" in errors, errors)


def small_disk(s, name, size="64k"):
    """A folder on a disk of its own, or None where one cannot be mounted."""
    disk = s.path(name)
    os.makedirs(disk)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk],
                                           capture_output=True).returncode != 0:
        print("SKIPPED: a small disk can be mounted by root only")
        return None
    return disk


def full_disk(s):
    """A disk that fills up fails the command, and the message names the file; what is there stays whole."""
    disk = small_disk(s, "disk")
    if not disk:
        return
    try:
        errors = s.run("long", "--quiet", "--out", disk + "/run", status=1)
        check("E0611" in errors and "metrics.jsonl" in errors and "No space left" in errors, errors)
        check(len(samples(read(disk + "/run", "metrics.jsonl"))) > 100, "lines before the disk was full")
        for name in os.listdir(disk + "/run"):
            os.remove(os.path.join(disk, "run", name))
        errors = s.run("large", "--quiet", "--out", disk + "/run", status=1)
        check("E0611" in errors and "final.safetensors" in errors and "No space left" in errors, errors)
        check(os.listdir(disk + "/run") == ["metrics.jsonl"], "half a file was left")
        # A cache without room only warns, and leaves nothing that is not whole.
        shutil.rmtree(disk + "/run")
        untidy = "train  t{ steps 1 }\n"
        with open(disk + "/untidy.dyn", "w") as file:
            file.write(untidy)
        with open(disk + "/filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        errors = s.run("large", "--quiet", "--out", s.path("elsewhere"), environment={"DYN_CACHE_DIR": disk})
        check(errors.count("warning: compiled programs are not kept") == 1, "one warning: " + errors)
        check(sorted(os.listdir(disk)) == ["filler", "untidy.dyn"], f"left behind: {os.listdir(disk)}")
        # A file that cannot be written tidily is left as it is.
        done = subprocess.run([s.dync, "fmt", disk + "/untidy.dyn"], capture_output=True, text=True)
        check(done.returncode == 1 and "No space left" in done.stderr, f"fmt: {done.returncode}, {done.stderr}")
        check(read(disk, "untidy.dyn") == untidy.encode() and len(os.listdir(disk)) == 2, "fmt lost the file")
        # Nor can a disk that takes nothing be written.
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        errors = s.run("large", "--quiet", "--out", disk + "/run", status=1)
        check("E0611" in errors and disk + "/run" in errors and "Read-only file system" in errors, errors)
        errors = s.run("large", "--quiet", "--out", disk, status=1)
        check("E0611" in errors and "metrics.jsonl" in errors and "Read-only file system" in errors, errors)
    finally:
        subprocess.run(["umount", disk], check=True)


def wait_for(process, path, size):
    """Until a file has so many bytes."""
    began = time.time()
    while not (os.path.exists(path) and os.path.getsize(path) >= size):
        check(time.time() - began < 60 and process.poll() is None, "the run does not start")
        time.sleep(0.01)


def one_folder(s):
    """A second run in the folder of one that goes on is refused and changes nothing; afterwards the folder is free."""
    out = s.path("out")
    first = subprocess.Popen([s.dync, "run", s.spec, "endless", "--quiet", "--out", out], env=s.environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(first, out + "/metrics.jsonl", 1000)
    errors = s.run("short", "--quiet", "--out", out, status=1)
    check("E0611" in errors and f"another run writes to `{out}`; wait for its end, or name another folder with `--out`"
          in errors, errors)
    s.run("short", "--quiet", "--out", s.path("other"))
    first.send_signal(signal.SIGINT)
    errors = first.communicate(timeout=60)[1]
    check(first.returncode == 130, f"exit status {first.returncode}: {errors}")
    stopped = int(re.search(r"interrupted after step (\d+)", errors).group(1))
    lines = samples(read(out, "metrics.jsonl"))
    check({line["run"] for line in lines} == {"endless"}, "lines of the second run")
    check([line["at"] for line in lines if line["metric"] == "loss"] == list(range(stopped)), "lines were lost")
    check(tensors(read(out, "final.safetensors")) == {"p.x": [4]}, "parameters of the first run")
    s.run("short", "--quiet", "--out", out)
    for file in ("metrics.jsonl", "final.safetensors"):
        check(read(out, file) == read(s.path("other"), file), f"{file} of the third run")


def killed(s):
    """A run that is killed at any time leaves whole files or none, a cache that works, and a folder that is free."""
    names = ("final.safetensors", "metrics.jsonl")
    began = time.time()
    whole = s.results("whole", "--no-cache")
    lasts = time.time() - began
    pace = random.Random(5)
    ended = 0
    for attempt in range(16):
        if attempt % 4 == 0:
            shutil.rmtree(s.path("cache"), ignore_errors=True)
        process = subprocess.Popen([s.dync, "run", s.spec, "--quiet", "--out", s.path("out")], env=s.environment)
        time.sleep(pace.uniform(0, 1.1*lasts))
        process.kill()
        ended += process.wait() == 0
        found = {name: read(s.path("out"), name) for name in names if os.path.exists(s.path("out/" + name))}
        # The system may stop within the last line that it was given.
        lines = found.get(names[1], b"")
        if b"\n" in lines:
            samples(lines[:lines.rfind(b"\n") + 1])
        check(whole[1].startswith(lines), "lines that are not those of the run")
        check(found.get(names[0], whole[0]) == whole[0], "parameters that are not those of the end")
        check(names[0] not in found or lines == whole[1], "parameters beside the metrics of another run")
    check(ended < 16, "no run was killed")
    check(s.results("out") == whole, "a run in the folder of one that was killed")
    check(sorted(os.listdir(s.path("out"))) == sorted(names), f"left behind: {os.listdir(s.path('out'))}")
    check(s.results("warm") == whole, "a warm run after those that were killed")


def failing_trains(text):
    """Two trains whose claims fail, and nothing else."""
    head, fails = text[:text.index("train holds")], text[text.index("train fails"):text.index("train quiet")]
    return head + fails + fails.replace("train fails", "train again")


def exits(s):
    """0 only if everything ran and every claim held; a claim that does not shows both its sides."""
    for options in ([], [], ["--interpret"]):
        s.run("holds", "--quiet", *options)
        errors = s.run("fails", "--quiet", *options, status=1)
        check("expect" in errors and "loss < bound" in errors, errors)
        check(re.search(r"`loss` is \d", errors) and "`bound` is 0.25" in errors, errors)
        s.run("all_hold", "--quiet", *options)
        errors = s.run("one_fails", "--quiet", *options, status=1)
        check("last(a.loss) < last(b.loss)" in errors and "`last(a.loss)` is" in errors
              and "`last(b.loss)` is" in errors, errors)
        check(errors.count("error:") == 1, "what holds is not an error: " + errors)
    both = s.run("--quiet", spec=s.variant("trains", failing_trains), status=1)
    check(both.count("error:") == 2, "each error once: " + both)
    s.run("absent", "--quiet", status=1)
    s.run("--quiet", spec=s.path("absent.dyn"), status=1)
    s.run("--quiet", status=1)  # both experiments: one fails


if __name__ == "__main__":
    test, dync, spec, folder = sys.argv[1:]
    globals()[test](Session(dync, spec, folder))
