#!/usr/bin/env python3
"""Checks that every ```dyn block of a page is a program that `dync check` accepts.

    check_docs.py --dync build/bin/dync PAGE…
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```dyn\n(.*?)^```$", re.M | re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dync", required=True)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    checked = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "data").symlink_to(ROOT / "examples/data")
        for page in options.pages:
            text = page.read_text()
            for block in BLOCK.finditer(text):
                line = text.count("\n", 0, block.start()) + 2
                # Blank lines in front: messages count as the page does.
                path = folder / f"{page.stem}-{line}.dyn"
                path.write_text("\n" * (line - 1) + block.group(1))
                done = subprocess.run([options.dync, "check", str(path)], capture_output=True, text=True)
                checked += 1
                if done.returncode:
                    failed += 1
                    print(f"{page}:{line}: refused\n{done.stdout}{done.stderr}")
    print(f"{checked} blocks, {failed} refused")
    sys.exit(1 if failed or not checked else 0)


if __name__ == "__main__":
    main()
