# RUN: %python %s --dync %dync
"""Laws that every rule of stdlib/ keeps. Rules are found by listing the folders: a new file is covered by itself.

    optimizers   at their defaults, in f64 and f32, from a first step without any gradient to a last one without: all
                 numbers finite; a parameter at 0 without a gradient stays but for MOVES; no two with the same losses
                 and final parameters but for those of ALIKE
    served       an average of equal parameters is these parameters
    accumulate   a batch split in four changes nothing beyond rounding
    clock        a held rule's schedule counts the run's steps, from 0
    clips        gradients keep the promised bounds (dync run --check-bounds), and a bound of 0 is kept
    schedules    finite, and continuous but for those of JUMPS: ten times finer steps make smaller jumps

A rule's arguments are its defaults; where a schedule has none, they are those of ARGUMENTS by name.
"""
import argparse
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from compare_reference import read_safetensors  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Pairs that have one trajectory at their defaults, with the reason.
ALIKE = {
    ("adamc", "adamw"): "at its peak a rate decays as adamw's",
    ("adafactor", "adafactor_floored"): "the cap 1/sqrt(t) is above lr for 10,000 steps, and both eps are below every square here",
    ("adafactor_vector", "adafactor_vector_floored"): "as adafactor and adafactor_floored",
    ("coupled_decay", "decoupled_decay"): "over sgd, their default, both are p - lr (g + weight_decay p)",
    ("normalized_sgd", "pcngd"): "of one row there is one class",
    ("polyak_average", "swa"): "with eta = 0, start = 1 and period = 1 both serve the mean of all parameters",
}
# Rules that move a parameter which never has a gradient and starts at 0, with the reason.
MOVES = {
    "langevin": "noise",
    "yogi": "its first moment starts above 0",
}
# Rules that need more rows in a batch than one, and how many.
ROWS = {"vr_sgd": 8}
# Wrappers under which a constant gradient of 1 and the rates 0, 1, 2 … do not give 0, -1, -3, with the reason.
NOT_PLAIN = {
    "accumulate": "the base steps in every fourth update only",
    "agc_vector": "the gradient is clipped",
    "cautious": "one entry of one has the scale 1/2",
    "coupled_decay": "decays",
    "proximal_l1": "the parameter goes towards 0",
    "proximal_l2": "the parameter goes towards 0",
    "trust_ratio": "the step is scaled to the parameter",
    "grokfast": "the slow part of the gradient is amplified",
    "orthograd": "of one number nothing is orthogonal to it",
    "delay_compensated": "the gradient is corrected for the way since",
    "decoupled_decay": "decays",
}
# Schedules with jumps by definition.
JUMPS = {"step_decay", "warm_restarts", "joined"}
# Arguments of schedules in a run of n steps; a schedule whose parameter is not here needs a row.
ARGUMENTS = {
    "peak": lambda n: "1.0", "value": lambda n: "1.0", "end": lambda n: "0.9", "rate": lambda n: "0.5",
    "warmup": lambda n: n // 5, "decay": lambda n: n // 4, "every": lambda n: n // 4, "period": lambda n: n // 4,
    "half": lambda n: n // 2, "at": lambda n: n // 2, "first": lambda n: "linear(1.0)",
    "second": lambda n: f"exponential(2.0, rate=0.5, every={n // 4})",
}

# Curvatures differ from entry to entry; some entries never have a gradient; rows scale the gradient up and down, and
# the first and the last ones have none at all.
PROBLEM = """
data rows = synthetic(40) {
  scale: real = if index == 0 or index == 39 then 0.0 else if index < 6 then 3.0 else 0.02 + 0.3*(index % 3)
  shift: real = sin(7*index)
  label: class(2) = index % 2
}

model shapes()(shift: real) -> real {
  param W: [4, 3] = [[0.3*cos(1 + 2*i + 5*j) for j in 0..3] for i in 0..4]
  param b: [5] = [0.2*i - 0.5 for i in 0..5]
  param c: [1] = 0.7
  param d: [2] = 0
  return sum([[0.2 + 0.7*i + 0.3*j + 0.1*i*j for j in 0..3] for i in 0..4]*(W - 0.1)^2) +
         sum([0.1*i for i in 0..5]*(b + 0.3)^2) + 1.3*(c[0] + 0.2)^2 + 0*sum(d) + 0.01 +
         0.3*shift*sum(W) + 0.2*shift*sum(b[1:])
}

train all_shapes(rule: optimizer) {
  data      rows batch 1
  model     f = shapes()
  loss      scale*f(shift)
  optimizer rule
  steps     40
  precision f64
}

train with_others(rule: optimizer) {
  data      rows batch 1
  model     f = shapes()
  loss      scale*f(shift)
  optimizer rule on PATTERN
  optimizer sgd(lr=0.01) otherwise
  steps     40
  precision f64
}
"""

MORE = """
schedule clock() = t

model number()() -> real {
  param w: [1] = 0
  return w[0]
}

train counted(rule: optimizer) {
  model     w = number()
  loss      w()
  optimizer rule
  steps     4
  precision f64
}

data points = synthetic(64) {
  x: [3] ~ normal()
  y: real = sum(x) + 0.1*sin(index)
}

model line()(x: [3]) -> real {
  param w: [3] = 0.1
  return dot(w, x)
}

train whole(rule: optimizer) {
  data      points batch 64
  model     net = line()
  loss      (net(x) - y)^2
  optimizer rule
  steps     6
  precision f64
}

train quarters(rule: optimizer) {
  data      points batch 16
  model     net = line()
  loss      (net(x) - y)^2
  optimizer accumulate(rule, parts=4)
  steps     24
  precision f64
}

train steep(guard: clip) {
  data      points batch 4
  model     net = line()
  loss      (if net(x) > y then 30 else 1)*(net(x) - y)^2
  clip      guard
  optimizer sgd(lr=0.001)
  steps     60
}

model matrix()(x: [3]) -> real {
  param W: [1, 3] = 0.1
  return (W @ x)[0]
}

train steep_matrix(guard: clip) {
  data      points batch 4
  model     net = matrix()
  loss      (if net(x) > y then 30 else 1)*(net(x) - y)^2
  clip      guard
  optimizer sgd(lr=0.001)
  steps     60
}

optimizer rate_as_parameter(lr: real) { param <- lr*grad }

train rates(rate: schedule, n: int) {
  model     w = number()
  loss      w()
  optimizer rate_as_parameter(lr=rate)
  steps     n
  precision f64
}
"""


class Rule:
    """A declaration of stdlib/: its name, parameters `[(name, type or None, default or None)]`, and pattern."""

    def __init__(self, path):
        text = path.read_text()
        self.name = path.stem
        begin = re.search(rf"^\w+ {self.name}\(", text, re.M).end()
        end = begin
        while text[begin - 1:end].count("(") != text[begin - 1:end].count(")"):
            end += 1
        pattern = re.match(r" on (\[[^\]]*\])", text[end:])
        self.pattern = pattern and pattern.group(1)
        self.text = text
        self.parameters = []
        for item in re.split(r",(?![^(]*\))", text[begin:end - 1]):
            if item.strip():
                name, default = (re.split(r"\s=\s", item.strip(), maxsplit=1) + [None])[:2]
                name, _, type_ = (part.strip() for part in name.partition(":"))
                self.parameters.append((name, type_, default))

    def has(self, type_):
        return any(kind == type_ for _, kind, _ in self.parameters)


def library(kind):
    return [Rule(path) for path in sorted((ROOT / "stdlib" / kind).glob("*.dyn"))]


def call(rule):
    return f"{rule.name}()"


class Runs:
    """Runs a spec and reads what each run left."""

    def __init__(self, dync, text):
        self.folder = tempfile.TemporaryDirectory()
        place = pathlib.Path(self.folder.name)
        (place / "laws.dyn").write_text(text)
        command = [dync, "run", str(place / "laws.dyn"), "--quiet", "--check-bounds", "--out", str(place / "out")]
        self.done = subprocess.run(command, capture_output=True, text=True)
        self.out = place / "out"

    def losses(self, name):
        path = self.out / name / "metrics.jsonl"
        samples = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [float(s["value"]) for s in samples if s["metric"] == "loss"]

    def params(self, name, last=None):
        """The final parameters of a run in one list, or of the one whose path ends in `last`."""
        path = self.out / name / "final.safetensors"
        tensors = read_safetensors(path) if path.exists() else {}
        return [x for path, (_, values) in sorted(tensors.items()) if last in (None, path.split(".")[-1]) for x in values]


def distance(a, b):
    """The greatest difference beside the greatest number; infinite where lengths differ."""
    if len(a) != len(b):
        return math.inf
    size = max(map(abs, a + b), default=0)
    return max((abs(x - y) for x, y in zip(a, b)), default=0) / (size or 1)


def experiment(runs):
    return "\nexperiment laws {\n" + "".join(f"  run {name} = {call}\n" for name, call in runs.items()) + "}\n"


def problem():
    """The trains, one for each pattern and each size of a batch that an optimizer of the library needs."""
    plain, _, patterned = PROBLEM.partition("train with_others")
    whole = "train all_shapes" + plain.partition("train all_shapes")[2]
    trains = {}
    for rule in library("optimizers"):
        text = "train with_others" + patterned if rule.pattern else whole
        text = re.sub(r"train \w+", f"train {train_of(rule)}", text).replace("PATTERN", rule.pattern or "")
        trains[train_of(rule)] = text.replace("batch 1\n", f"batch {ROWS.get(rule.name, 1)}\n")
    del trains["all_shapes"]
    return plain + "\n".join(trains.values())


def train_of(rule):
    """The name of the train that a rule is tried in."""
    if rule.name in ROWS:
        return f"of_{ROWS[rule.name]}_rows"
    return f"with_rank_{rule.pattern.count(',') + 1}" if rule.pattern else "all_shapes"


def optimizers(dync):
    rules = library("optimizers")
    runs = {}
    for rule in rules:
        runs[f"{rule.name}_f64"] = f"{train_of(rule)}({call(rule)})"
        runs[f"{rule.name}_f32"] = f"{train_of(rule)}({call(rule)}) with precision = f32"
    done = Runs(dync, problem() + experiment(runs))
    if done.done.returncode:
        yield done.done.stdout + done.done.stderr
        return
    for name in runs:
        numbers = done.losses(name) + done.params(name)
        if len(done.losses(name)) != 40 or not all(map(math.isfinite, numbers)):
            yield f"{name}: {len(done.losses(name))} losses of 40, or numbers that are not finite"
    for rule in rules:
        still = all(x == 0 for x in done.params(f"{rule.name}_f64", "d"))
        if still == (rule.name in MOVES):
            yield f"`{rule.name}`: a parameter at 0 without a gradient {'stays' if still else 'moves'} (MOVES)"
    traces = {rule.name: done.losses(f"{rule.name}_f64") + done.params(f"{rule.name}_f64") for rule in rules}
    for a, b in itertools.combinations(sorted(traces), 2):
        same = distance(traces[a], traces[b]) < 1e-13
        if same and (a, b) not in ALIKE:
            yield f"`{a}` and `{b}` have the same trajectory at their defaults: give the reason in ALIKE, or remove one"
        if not same and (a, b) in ALIKE:
            yield f"`{a}` and `{b}` differ, though ALIKE says: {ALIKE[a, b]}"


def held(dync):
    wrappers = [rule for rule in library("optimizers") if rule.has("optimizer") and not rule.pattern]
    averages = [rule for rule in wrappers if "served <-" in rule.text]
    runs = {f"{rule.name}_equal": f"all_shapes({rule.name}(sgd(lr=0.0)))" for rule in averages}
    runs["start"] = "all_shapes(sgd(lr=0.0))"
    runs |= {f"{rule.name}_clock": f"counted({rule.name}(sgd(lr=clock())))" for rule in wrappers}
    bases = ("sgd(lr=0.05)", "adam(lr=0.05)", "momentum(lr=0.02)")
    for i, base in enumerate(bases):
        runs |= {f"whole_{i}": f"whole({base})", f"split_{i}": f"quarters({base})"}
    done = Runs(dync, problem() + MORE + experiment(runs))
    if done.done.returncode:
        yield done.done.stdout + done.done.stderr
        return
    for rule in averages:
        if distance(done.params(f"{rule.name}_equal"), done.params("start")) > 1e-15 or not done.params("start"):
            yield f"`{rule.name}`: the average of equal parameters is not these parameters"
    for rule in wrappers:
        losses = done.losses(f"{rule.name}_clock")
        plain = len(losses) == 4 and distance(losses, [0, 0, -1, -3]) < 1e-15
        if plain == (rule.name in NOT_PLAIN):
            yield f"`{rule.name}` over sgd(lr=t): the parameter is {losses[:4]}, not 0, 0, -1, -3 (NOT_PLAIN)"
    for i, base in enumerate(bases):
        a, b = done.params(f"whole_{i}"), done.params(f"split_{i}")
        if not a or distance(a, b) > 1e-14:
            yield f"accumulate({base}, parts=4) on a split batch: {b}, on the whole one {a}"


def clips(dync):
    runs = {}
    for rule in library("clips"):
        bounds = [name for name, _, _ in rule.parameters if name == "bound"]
        train = "steep_matrix" if rule.pattern else "steep"
        runs[f"{rule.name}_free"] = f"{train}({rule.name}())"
        if bounds and "bounds " in rule.text:
            runs[f"{rule.name}_tight"] = f"{train}({rule.name}(bound=0.01))"
            runs[f"{rule.name}_closed"] = f"{train}({rule.name}(bound=0.0))"
    done = Runs(dync, MORE + experiment(runs))
    if done.done.returncode:
        yield done.done.stdout + done.done.stderr
        return
    for name in runs:
        numbers = done.losses(name) + done.params(name)
        if len(done.losses(name)) != 60 or not all(map(math.isfinite, numbers)):
            yield f"clip {name}: numbers that are not finite"
        if name.endswith("_closed") and any(x != 0.1 for x in (round(x, 7) for x in done.params(name))):
            yield f"clip {name}: parameters move behind a bound of 0"


def arguments(rule, n):
    given = []
    for name, _, default in rule.parameters:
        if default is None and name not in ARGUMENTS:
            sys.exit(f"schedule `{rule.name}`: ARGUMENTS has no row for its parameter `{name}`")
        if default is None or name == "every":
            given.append(f"{name}={ARGUMENTS[name](n)}")
    return ", ".join(given)


def schedules(dync):
    rules, sizes = library("schedules"), (200, 2000)
    runs = {f"{rule.name}_{n}": f"rates({rule.name}({arguments(rule, n)}), n={n})" for rule in rules for n in sizes}
    done = Runs(dync, MORE + experiment(runs))
    if done.done.returncode:
        yield done.done.stdout + done.done.stderr
        return
    for rule in rules:
        jumps = []
        for n in sizes:
            values = done.losses(f"{rule.name}_{n}")[1:]
            if len(values) != n - 1 or not all(map(math.isfinite, values)):
                yield f"schedule `{rule.name}`: {len(values)} values of {n - 1}, or numbers that are not finite"
            jumps.append(max((abs(b - a) for a, b in itertools.pairwise(values)), default=0))
        # A line gives 1/10, a root 1/sqrt(10); a jump stays.
        if (jumps[1] > 0.5*jumps[0]) != (rule.name in JUMPS):
            yield f"schedule `{rule.name}`: its greatest jump is {jumps[0]:.3g} in {sizes[0]} steps, {jumps[1]:.3g} in {sizes[1]} (JUMPS)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dync", required=True)
    parser.add_argument("--only", default="", help="one of the laws")
    options = parser.parse_args()
    laws = {"optimizers": optimizers, "held": held, "clips": clips, "schedules": schedules}
    found = [fault for name, law in laws.items() if options.only in ("", name) for fault in law(options.dync)]
    print("\n".join(found) or f"{', '.join(laws)}: every law holds")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
