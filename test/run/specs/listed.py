# RUN: %python %s %dync
"""Tests that docs/systems.md has each program of test/specs/ once: among those that run, which have a test here, or among
those that wait, which `dync check` still refuses."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def listed(part):
    return re.findall(r"^\| \[(\w+)\]\(\.\./(test/specs/\w+/\w+\.dyn)\) \|", part, re.M)


def faults():
    page = (ROOT / "docs/systems.md").read_text()
    runs, waits = map(listed, page.split("## They wait"))
    programs = {path.stem: path for path in (ROOT / "test/specs").glob("*/*.dyn")}
    tested = {path.stem for path in pathlib.Path(__file__).parent.glob("*.test")}
    names = [name for name, _ in runs + waits]
    for name in sorted(set(programs) ^ set(names)):
        yield f"{name}: on the page or in test/specs, not in both"
    for name in sorted(name for name in set(names) if names.count(name) > 1):
        yield f"{name}: listed twice"
    for name, path in runs + waits:
        if not (ROOT / path).exists():
            yield f"{name}: no file {path}"
    for name in sorted({name for name, _ in runs} ^ tested):
        yield f"{name}: among those that run or tested here, not both"
    for name, path in waits:
        if subprocess.run([sys.argv[1], "check", str(ROOT / path)], capture_output=True).returncode == 0:
            yield f"{name}: nothing refuses it any more: give it a test and list it among those that run"
    if not programs:
        yield "no programs"


found = list(faults())
print("\n".join(found) or "each program is listed where it belongs")
sys.exit(1 if found else 0)
