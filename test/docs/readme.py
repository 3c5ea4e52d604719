# RUN: %python %s %dync
"""Tests that what README.md shows of files is what they hold, and that its example runs as it is shown."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    readme = (ROOT / "README.md").read_text()
    files = [p.read_text() for folder in ("examples", "stdlib") for p in sorted((ROOT / folder).rglob("*.dyn"))]
    faults = []
    for block in re.findall(r"^```\n((?:train|optimizer) .*?)^```$", readme, re.M | re.S):
        if not any(plain(block) in plain(text) for text in files):
            faults.append(f"no file holds this block:\n{block}")
    session = re.search(r"^```\n\$ build/bin/dync (run \S+)\n(.*?)^```$", readme, re.M | re.S)
    done = subprocess.run([sys.argv[1], *session.group(1).split()], cwd=ROOT, capture_output=True, text=True)
    shown, got = (without_numbers(text) for text in (session.group(2), done.stdout))
    if done.returncode or shown != got:
        faults.append(f"`dync {session.group(1)}` prints\n{done.stdout}{done.stderr}instead of\n{session.group(2)}")
    print("\n".join(faults) or "README.md shows what there is")
    sys.exit(1 if faults else 0)


def plain(text):
    """Without comments at line ends and double blanks."""
    return re.sub(r" *#.*| +(?= )", "", text)


def without_numbers(text):
    """Single precision differs in the last digits from one processor to another."""
    return re.sub(r"\d+(\.\d+)?(e-?\d+)?", "N", text)


if __name__ == "__main__":
    main()
