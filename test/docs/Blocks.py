"""Code blocks of Markdown pages: what follows the fence's language says how a test treats them."""
import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Block:
    language: str
    words: list          # what stands behind the language on the fence
    lines: list
    line: int            # of the fence, from 1
    heading: str = ""

    def text(self):
        return "\n".join(self.lines) + "\n"


def blocks(path):
    """The fenced blocks of a page, in order, each with the heading that it stands under."""
    found, inside, heading = [], None, ""
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line.startswith("```"):
            if inside is None:
                words = line[3:].split()
                inside = Block(words[0] if words else "", words[1:], [], number, heading)
            else:
                found.append(inside)
                inside = None
        elif inside is not None:
            inside.lines.append(line)
        elif re.match(r"#+ ", line):
            heading = line.lstrip("#").strip()
    if inside is not None:
        raise SystemExit(f"{path}:{inside.line}: this block is never closed")
    return found


def session(dync, lines, folder):
    """Enters what stands behind the prompts; the exit status and all that `dync repl` prints."""
    entered = "".join(line[4:].removeprefix(" ") + "\n" for line in lines if line.startswith(("dyn>", "...>")))
    done = subprocess.run([dync, "repl"], input=entered, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300)
    return done.returncode, done.stdout
