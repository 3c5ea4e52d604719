#!/usr/bin/env python3
"""Runs the ```console blocks of a page, in order, and compares what they print.

    run_docs.py DYNC PAGE FOLDER [NAME=FILE…]

Lines that begin with `$ ` are commands, the others what standard output must hold after them. Programs of ```c blocks are
`program.c`; FILE is copied to NAME before anything runs. `examples` is the repository's.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(c|console)\n(.*?)^```$", re.M | re.S)


def commands(text):
    """(command, expected lines) of a console block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def main():
    dync, page, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "examples").symlink_to(ROOT / "examples")
    for copy in sys.argv[4:]:
        name, _, file = copy.partition("=")
        shutil.copy(file, folder / name)
    environment = dict(os.environ, PATH=os.path.dirname(dync) + os.pathsep + os.environ["PATH"])
    ran = failed = 0
    for language, text in BLOCK.findall(page.read_text()):
        if language == "c":
            (folder / "program.c").write_text(text)
            continue
        for command, expected in commands(text):
            done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
            ran += 1
            if done.returncode or (expected and done.stdout.splitlines() != expected):
                failed += 1
                print(f"{page.name}: $ {command}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{ran} commands, {failed} failed")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    main()
