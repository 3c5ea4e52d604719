#!/usr/bin/env python3
"""Compares what `dync` reports with what the files of a folder state, exactly.

    expect_errors.py DYNC FOLDER [KINDS]

A line that is refused ends in  # error: CODE "full text"  (several may follow one another). What belongs to no line of
the file stands in a comment line of its own: an error of the command or of a data file, whose place is not the spec.
The first line may say how:  # command: run --quiet  (default: check). Exit status must be 1 where errors are stated.

With KINDS (DiagnosticKinds.def) every code from E0300 to E0699 must be stated by a file of the folder or of errors/
beside it (static checks), or stand in FOLDER's unreachable.txt with the reason.
"""
import os
import re
import shlex
import subprocess
import sys

STATED = re.compile(r'# error: (E\d{4}) "((?:[^"]|"(?! *(?:$|# error: )))*)"')
REPORTED = re.compile(r"^(?:(.*?):(\d+):\d+: )?error: (.*) \[(E\d{4})\]$")


def stated(path):
    found = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            place = None if line.startswith("# error: ") else number
            found += [(place, code, text) for code, text in STATED.findall(line.rstrip("\n"))]
    return sorted(found, key=str)


def command(path):
    with open(path, encoding="utf-8") as lines:
        words = re.match(r"# command: (.*)", lines.readline())
    return shlex.split(words.group(1)) if words else ["check"]


def reported(dync, path):
    """Errors as (line or None, code, text), and the exit status. The folder is left out of names in messages."""
    folder, name = os.path.split(path)
    word, *options = command(path)
    done = subprocess.run([dync, word, name, *options], cwd=folder, capture_output=True, text=True, timeout=120)
    found = []
    for line in done.stderr.splitlines():
        match = REPORTED.match(line)
        if match:
            file, number, text, code = match.groups()
            found.append((int(number) if file == name else None, code, text))
    return sorted(found, key=str), done


def check(dync, path):
    want = stated(path)
    have, done = reported(dync, path)
    status = 1 if want else 0
    if want == have and done.returncode == status:
        return True
    print(f"{path}: status {done.returncode}, expected {status}")
    for mark, errors in (("stated", want), ("reported", have)):
        for line, code, text in errors:
            print(f"  {mark:9} {line or '-'}: {code} {text}")
    print(done.stderr)
    return False


def dyn_files(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".dyn")]


def untested(kinds, folder):
    files = dyn_files(folder) + dyn_files(os.path.join(os.path.dirname(os.path.abspath(folder)), "errors"))
    with open(kinds, encoding="utf-8") as lines:
        codes = set(re.findall(r"^DIAG\((E0[3-6]\d\d),", lines.read(), re.M))
    covered = {code for path in files for _, code, _ in stated(path)}
    with open(os.path.join(folder, "unreachable.txt"), encoding="utf-8") as lines:
        excused = dict(line.split(None, 1) for line in lines if line.startswith("E"))
    for code in sorted(codes - covered - set(excused)):
        print(f"{code} has no test in {folder} and no reason in unreachable.txt")
    for code in sorted(set(excused) & covered | set(excused) - codes):
        print(f"unreachable.txt excuses {code}, which {'a file states' if code in covered else 'does not exist'}")
    return bool(codes - covered - set(excused) or set(excused) & covered or set(excused) - codes)


def main():
    dync, folder, *kinds = sys.argv[1:]
    dync = os.path.abspath(dync)
    files = dyn_files(folder)
    bad = [path for path in files if not check(dync, path)]
    missing = bool(kinds) and untested(kinds[0], folder)
    print(f"{len(files)} files, {len(bad)} differ")
    return 1 if bad or missing or not files else 0


if __name__ == "__main__":
    sys.exit(main())
