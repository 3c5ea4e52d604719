"""Code blocks of the Markdown pages do what the pages say.

usage: check_pages.py DYNC ROOT PAGE…
A block of
  dyn              is a program that `dync check` accepts, in a folder with examples/data
  dyn file=PATH    stands word for word in that file, comments aside
  console          has commands behind `$ `, each followed by what it prints (errors too if it fails): numbers within a tenth (machines and
                   compilers differ in the last digits), `…` for any lines or any rest of a line
  session          is a session of `dync repl`, what is entered behind its prompts; compared as `console` blocks are
  c, sh, text      are for reading; `sh` blocks with dync commands belong into `console`
Any other language is refused, so that no block escapes.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from Blocks import blocks, session

dync, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
failures = []
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def same_line(wanted, seen):
    """Equal but for numbers with a fraction, which may differ by a tenth, and for what `…` stands for."""
    if wanted.endswith("…"):
        head = wanted[:-1]
        return same_line(head, seen[:len(head)]) if "." not in head else seen.startswith(head.split(".")[0])
    if NUMBER.sub("#", wanted).split() != NUMBER.sub("#", seen).split():
        return False
    for a, b in zip(NUMBER.findall(wanted), NUMBER.findall(seen)):
        isExact = not re.search(r"[.e]", a + b)
        if a != b and (isExact or abs(float(a) - float(b)) > 0.1 * abs(float(a))):
            return False
    return True


def matches(wanted, seen):
    """Whether lines fit; a line `…` stands for any number of them."""
    if not wanted:
        return not seen
    if wanted[0].strip() == "…":
        return any(matches(wanted[1:], seen[i:]) for i in range(len(seen) + 1))
    return bool(seen) and same_line(wanted[0], seen[0]) and matches(wanted[1:], seen[1:])


def run(command, folder):
    command = re.sub(r"^(build/bin/)?dync\b", str(dync), command)
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=300)
    return done.stdout + (done.stderr if done.returncode else "")


def without_comments(text):
    lines = [re.sub(r"\s*#.*", "", line).rstrip() for line in text.split("\n")]
    return "\n".join(line for line in lines if line)


def check_console(block, folder, fail):
    command, wanted = None, []
    for line in block.lines + ["$ "]:
        if not line.startswith("$ "):
            wanted.append(line)
            continue
        if command:
            seen = [text.rstrip() for text in run(command, folder).rstrip("\n").split("\n")]
            if wanted and not matches([text.rstrip() for text in wanted], seen):
                fail(block.line, f"`{command}` prints\n" + "\n".join(seen))
        command, wanted = line[2:], []


def check_block(block, folder, fail):
    options = dict(word.split("=", 1) for word in block.words if "=" in word)
    if block.language == "dyn" and "file" in options:
        if without_comments(block.text()) not in without_comments((root / options["file"]).read_text()):
            fail(block.line, f"this does not stand in {options['file']}")
    elif block.language == "dyn":
        (folder / "spec.dyn").write_text(block.text())
        done = subprocess.run([dync, "check", "spec.dyn"], cwd=folder, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            fail(block.line, done.stdout + done.stderr)
    elif block.language == "session":
        wanted = [line for line in block.lines if not line.startswith(("dyn>", "...>"))]
        seen = session(dync, block.lines, folder)[1].rstrip("\n").split("\n")
        if not matches([line.rstrip() for line in wanted], [line.rstrip() for line in seen]):
            fail(block.line, "the session prints\n" + "\n".join(seen))
    elif block.language == "console":
        check_console(block, folder, fail)
    elif block.language not in ("c", "sh", "text", "mlir", "cmake"):
        fail(block.line, f"a block of `{block.language}`: say how it is tested (test/docs/check_pages.py)")


count = 0
for page in sys.argv[3:]:
    path = root / page
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "examples").symlink_to(root / "examples")
        (folder / "data").symlink_to(root / "examples/data")
        for block in blocks(path):
            count += 1
            check_block(block, folder, lambda line, text: failures.append(f"{page}:{line}: {text}"))
print("\n".join(failures) or f"{count} blocks")
sys.exit(bool(failures))
