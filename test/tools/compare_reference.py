#!/usr/bin/env python3
"""Runs a spec and compares its losses and final parameters with recorded ones.

The spec names each record, `# compare: FILE` (relative to itself), and its runs:

    on_PROBLEM        a rule on a problem of test/reference/NAME.json
    SCHEDULE_values   a schedule of test/reference/schedules.json (test/reference/schedule_values.dyn)
    at_POINT          metrics at step 0 that have the names of a point of test/reference/derivatives.json

`# compare: FILE as WORD` takes the runs WORD_PROBLEM instead of on_PROBLEM, so that a spec can compare a rule under
several conventions; `# compare: FILE params=FIELD` compares the final parameters with `extra.FIELD` of the record, for
rules that serve other parameters than they train; `limit=NUMBER` is a wider tolerance than the recorded one, for a
convention of the record that the spec names; `problems=a,b` compares on these alone.

Exit status 0 when every number agrees within the recorded tolerance; otherwise both sides are printed.
Needs nothing beyond Python's standard library.
"""
import argparse
import array
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

COMPARE = re.compile(r"^# compare: (?P<file>\S+)(?: as (?P<prefix>\w+))?(?: params=(?P<field>\w+))?"
                     r"(?: limit=(?P<limit>\S+))?(?: problems=(?P<problems>\S+))?$", re.M)
SCHEDULE_TOLERANCE = 1e-12  # relative; the recorded formulas agree with the libraries to 2e-17 absolute


def read_safetensors(path):
    """{name: (shape, flat list of numbers)} of a file in the safetensors format."""
    blob = path.read_bytes()
    (length,) = struct.unpack_from("<Q", blob)
    header = json.loads(blob[8:8 + length])
    codes = {"F64": "d", "F32": "f", "I64": "q", "I32": "i"}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = array.array(codes[entry["dtype"]])
        values.frombytes(blob[8 + length + begin:8 + length + end])
        if sys.byteorder == "big":
            values.byteswap()
        tensors[name] = (entry["shape"], list(values))
    return tensors


def flatten(value):
    """The numbers of nested lists, row-major."""
    return [x for row in value for x in flatten(row)] if isinstance(value, list) else [value]


def number(value):
    """A value of metrics.jsonl: "nan" and "inf" are strings there."""
    return float(value)


class Results:
    """What `dync run --out` left: the losses of each run by step, and its final parameters."""

    def __init__(self, folder):
        self.folder = folder
        self.losses = {}
        self.first = {}  # metrics at step 0: {run: {metric: numbers}}
        for path in sorted(folder.rglob("metrics.jsonl")):
            for line in path.read_text().splitlines():
                sample = json.loads(line)
                if sample["metric"] == "loss":
                    self.losses.setdefault(sample["run"], []).append((sample["at"], number(sample["value"])))
                if sample["at"] == 0:
                    values = [number(x) for x in flatten(sample["value"])]
                    self.first.setdefault(sample["run"], {})[sample["metric"]] = values

    def loss(self, run):
        return [value for _, value in sorted(self.losses.get(run, []))]

    def params(self, run):
        """Final parameters by the last part of their path."""
        tensors = read_safetensors(self.folder / run / "final.safetensors")
        return {name.rsplit(".", 1)[-1]: values for name, (_, values) in tensors.items()}


class Comparison:
    """Collects disagreements and prints the first of each array."""

    def __init__(self):
        self.failures = 0
        self.compared = 0

    def fail(self, text):
        self.failures += 1
        print(text)

    def check(self, what, got, want, limit, relative):
        if len(got) != len(want):
            self.fail(f"{what}: {len(got)} numbers, recorded are {len(want)}")
            return
        worst, place = 0.0, None
        for i, (a, b) in enumerate(zip(got, want)):
            distance = abs(a - b) / (abs(b) if relative and b else 1.0)
            if math.isnan(distance) or distance > worst:
                worst, place = distance, i
                if math.isnan(distance):
                    break
        self.compared += len(want)
        if math.isnan(worst) or worst > limit:
            kind = "relative" if relative else "absolute"
            self.fail(f"{what}[{place}]: {got[place]!r}, recorded {want[place]!r}, "
                      f"{kind} difference {worst:.3g} > {limit:g}")
            for i in range(min(len(want), 6)):
                print(f"    [{i}] {got[i]!r:>26} {want[i]!r:>26}")


def compare_rule(record, results, runs, out, named):
    """Compares the runs PREFIX_PROBLEM, one for each problem of the record; returns those it knows."""
    prefix, served = (named["prefix"] or "on") + "_", named["field"]
    chosen = named["problems"].split(",") if named["problems"] else record["problems"]
    known = {prefix + problem: record["problems"][problem] for problem in chosen}
    for run, case in known.items():
        if run not in runs:
            out.fail(f"no run `{run}`: the record has this problem")
            continue
        limits = {name: float(named["limit"] or limit) for name, limit in case["tolerance"].items()}
        out.check(f"{run}: loss", results.loss(run), case["loss"], limits["loss_rel"], True)
        params, recorded = results.params(run), case["extra"][served] if served else case["params"]
        if sorted(params) != sorted(recorded):
            out.fail(f"{run}: parameters {sorted(params)}, recorded are {sorted(recorded)}")
            continue
        for name, want in recorded.items():
            out.check(f"{run}: {name}", params[name], flatten(want), limits["params_abs"], False)
    return known


def compare_schedule(record, results, runs, out, named):
    """Compares the runs SCHEDULE_values of the spec; returns those it knows."""
    entries = {entry["name"]: entry for entry in record["schedules"]}
    known = [run for run in runs if run.removesuffix("_values") in entries]
    for run in known:
        entry = entries[run.removesuffix("_values")]
        got = results.loss(run)[1:] + results.params(run)["w"]
        out.check(f"{run}: value", got, entry["value"][:len(got)], SCHEDULE_TOLERANCE, True)
        if len(got) < 12:
            out.fail(f"{run}: {len(got)} values, at least 12 are wanted")
    return known


def compare_points(record, results, runs, out, _):
    """Compares the runs at_POINT of the spec, every number of the record; returns those it knows."""
    known = [run for run in runs if run.removeprefix("at_") in record["points"]]
    for run in known:
        for name, want in record["points"][run.removeprefix("at_")].items():
            got = results.first.get(run, {}).get(name, [])
            scale = max(abs(x) for x in flatten(want))
            out.check(f"{run}: {name}", got, flatten(want), record["tolerance"]*scale, False)
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dync", required=True)
    parser.add_argument("spec", type=pathlib.Path)
    options = parser.parse_args()

    text = options.spec.read_text()
    named = [line.groupdict() for line in COMPARE.finditer(text)]
    if not named:
        sys.exit(f"{options.spec}: no line `# compare: FILE`")
    records = [json.loads((options.spec.parent / line["file"]).read_text()) for line in named]
    runs = re.findall(r"^\s*run (\w+)\s*=", text, re.M)

    with tempfile.TemporaryDirectory() as folder:
        command = [options.dync, "run", str(options.spec), "--check-bounds", "--out", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.stdout.write(done.stdout)
            sys.stdout.write(done.stderr)
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
        results = Results(pathlib.Path(folder))
        out = Comparison()
        compared = set()
        for record, line in zip(records, named):
            compare = (compare_schedule if "schedules" in record else
                       compare_points if "points" in record else compare_rule)
            compared.update(compare(record, results, runs, out, line))
        for run in runs:
            if run not in compared:
                out.fail(f"run `{run}`: no record knows it")
    print(f"{options.spec.name}: {out.compared} numbers in {len(runs)} runs, {out.failures} disagreements")
    sys.exit(1 if out.failures or not runs else 0)


if __name__ == "__main__":
    main()
