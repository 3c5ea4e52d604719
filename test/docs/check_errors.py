"""docs/errors.md: an entry for each code, with its wording; each refused program is refused with that code, each mended
one is accepted.

usage: check_errors.py DYNC ROOT
A `diff` block holds both programs. Words behind `diff`: `data`, `run` put the page's own block of that name before them;
`points` and `verse` put a points.csv and a verse.txt beside them; `loose` asks only that the mended program has not this code; another code is also
reported. A `session` block is refused by `dync repl` with the code. A `console` block is a command that fails with the code.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from Blocks import blocks, session

dync, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
page = root / "docs/errors.md"
table = dict(re.findall(r'^DIAG\((E\d+), \w+, \w+, "(.*)"\)$', (root / "frontend/DiagnosticKinds.def").read_text(), re.M))
failures = []


def fail(where, message):
    failures.append(f"{page}:{where}: {message}")


def check_entries():
    text = page.read_text()
    entries = dict(re.findall(r"^### (E\d+)\n\n> (.*)$", text, re.M))
    for code, wording in table.items():
        wording = re.sub(r"\{\d\}", "…", wording).replace('\\"', '"')
        if code not in entries:
            fail(1, f"no entry for {code}")
        elif entries[code] != wording:
            fail(1, f"{code} is worded `{wording}` in DiagnosticKinds.def and `{entries[code]}` here")
    for code in entries.keys() - table.keys():
        fail(1, f"{code} is no code of DiagnosticKinds.def")


def run(arguments, folder):
    done = subprocess.run([dync, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def run_program(code, program, folder):
    """Claims and stops of a run are seen by running, all else by checking."""
    (folder / "spec.dyn").write_text(program)
    if code >= "E0600" and code < "E0900" or "experiment " in program:
        return run(["run", "--no-cache", "--quiet", "spec.dyn"], folder)
    return run(["check", "spec.dyn"], folder)


def check_block(block, contexts, folder):
    code = block.heading
    names = ["data", "run"] if "run" in block.words else [name for name in contexts if name in block.words]
    before = "".join(contexts[name] + "\n" for name in names)
    if "verse" in block.words:
        (folder / "verse.txt").write_text("in the beginning")
    if "points" in block.words:
        (folder / "points.csv").write_text("1,2,3\n4,5,6\n")
    side = lambda sign: before + "\n".join(line[2:] for line in block.lines if line[:1] in (" ", sign, "")) + "\n"
    status, output = run_program(code, side("-"), folder)
    expected = [word for word in block.words if re.fullmatch(r"E\d{4}", word)] or [code]
    if status != 1 or not any(f"[{word}]" in output for word in expected):
        fail(block.line, f"the program of {code} is not refused with it:\n{output}")
    if not any(line.startswith("+") for line in block.lines) and "E0901" in block.words:
        return
    status, output = run_program(code, side("+"), folder)
    if f"[{code}]" in output or ("loose" not in block.words and status != 0):
        fail(block.line, f"the mended program of {code} is refused:\n{output}")


check_entries()
found = blocks(page)
contexts = dict(zip(["data", "point", "run"], [block.text() for block in found if block.language == "dyn"]))
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "examples").symlink_to(root / "examples")
    for block in found:
        if block.language == "diff":
            check_block(block, contexts, folder)
        elif block.language == "session":
            status, output = session(dync, block.lines, folder)
            if status != 1 or f"[{block.heading}]" not in output:
                fail(block.line, f"the session is not refused with {block.heading}:\n{output}")
        elif block.language == "console":
            for line in block.lines:
                if line.startswith("$ dync "):
                    status, output = run(line[7:].split(), folder)
                    if status != 1 or f"[{block.heading}]" not in output:
                        fail(block.line, f"`{line}` does not fail with {block.heading}:\n{output}")
print("\n".join(failures) or f"{len(table)} codes, {len(found)} blocks")
sys.exit(bool(failures))
