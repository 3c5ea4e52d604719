"""Tests that `dync explain` says what the code says, of each name of stdlib/: its header stands there whole, and text and
LaTeX have an arrow for each write of the code, a line for each thing that it emits; LaTeX closes what it opens."""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_comments(text):
    return "\n".join(line.split("#")[0] for line in text.splitlines())


def emitted(code):
    """How many metrics the code emits: `emit a = x, b = y` are two."""
    return sum(len(re.findall(r"(?:^|, )\w+ = ", rest)) for rest in re.findall(r"\bemit (.*)", code))


def faults(dync, path):
    def explain(*options):
        done = subprocess.run([dync, "explain", path.stem, *options], capture_output=True, text=True)
        if done.returncode or done.stderr:
            return f"status {done.returncode}: {done.stderr}"
        return done.stdout

    source = path.read_text()
    code = without_comments(source)
    header = "".join(line[2:] + "\n" if line != "#" else "\n" for line in source.split("\n\n")[0].splitlines()
                     if line.startswith("#"))
    text, latex = explain(), explain("--latex")
    equations = text.partition("\nIn the code:\n")[2]
    if header.strip() not in text:
        yield "the header is not there whole"
    for name, said, arrow in (("text", equations, "←"), ("LaTeX", latex, "\\leftarrow")):
        if said.count(arrow) != code.count("<-"):
            yield f"{name}: {said.count(arrow)} writes, the code has {code.count('<-')}"
        if said.count("emit ") != emitted(code):
            yield f"{name}: {said.count('emit ')} metrics, the code has {emitted(code)}"
    if latex.count("\\begin{") != latex.count("\\end{") or latex.count("\\left(") != latex.count("\\right)"):
        yield "LaTeX: an environment or a bracket stays open"
    plain = re.sub(r"\\[{}]", "", latex)
    if plain.count("{") != plain.count("}"):
        yield "LaTeX: braces do not match"
    bad = [line for line in latex.splitlines() if line not in ("\\begin{align*}", "\\end{align*}") and not line.startswith("& ")]
    if bad:
        yield f"LaTeX: a line that is none of a box: {bad[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dync")
    options = parser.parse_args()
    paths = sorted((ROOT / "stdlib").glob("*/*.dyn"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = pool.map(lambda path: [f"{path.parent.name}/{path.name}: {fault}" for fault in faults(options.dync, path)], paths)
        found = [fault for each in results for fault in each]
    print("\n".join(found) or f"{len(paths)} names explained as their code has them")
    sys.exit(1 if found or not paths else 0)


if __name__ == "__main__":
    main()
