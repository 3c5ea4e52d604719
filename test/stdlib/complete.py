# RUN: %python %s %dync
"""Tests that each file of stdlib/ has a test, a header that cites its source, and declares what it is named after, that
stdlib/README.md names each rule, and that `dync check` takes each file by itself, where no train uses it."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {
    "clips": "clip",
    "distributions": "fn",
    "estimators": "estimator",
    "functions": "fn",
    "init": "fn",
    "linalg": "fn",
    "losses": "fn",
    "models": "model",
    "optimizers": "optimizer",
    "probes": "probe",
    "schedules": "schedule",
}
LISTED = {"clips", "estimators", "optimizers", "probes", "schedules"}
YEAR_OR_VERSION = re.compile(r"\b(1[89]|20)\d\d\b|\d+\.\d+\.\d+")


def header(text):
    """The comment block at the top of a file, without its marks."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].strip())
    return lines


def faults(path):
    folder, name = path.parent.name, path.stem
    text = path.read_text()
    lines = header(text)
    if folder not in KINDS:
        yield f"folder `{folder}` has no row in KINDS of {pathlib.Path(__file__).name}"
        return
    if not re.search(rf"^{KINDS[folder]} {name}\(", text, re.M):
        yield f"does not declare `{KINDS[folder]} {name}`"
    if not lines or not lines[0].endswith("."):
        yield "the header does not open with a sentence that says what it is"
    if not YEAR_OR_VERSION.search(" ".join(lines)):
        yield "the header cites no source"
    if not any("=" in line or "<-" in line or "~" in line for line in lines[2:]):
        yield "the header has no equation"
    if not (ROOT / "test/stdlib" / folder / path.name).exists():
        yield f"has no test: write test/stdlib/{folder}/{path.name}"
    if folder in LISTED and not re.search(rf"\b{name}\b", (ROOT / "stdlib/README.md").read_text()):
        yield "is not named in stdlib/README.md"
    alone = subprocess.run([sys.argv[1], "check", str(path)], capture_output=True, text=True)
    if alone.returncode:
        yield "is refused by itself:\n" + alone.stderr


def main():
    library = sorted((ROOT / "stdlib").glob("*/*.dyn"))
    found = [f"stdlib/{p.parent.name}/{p.name}: {fault}" for p in library for fault in faults(p)]
    names = {(p.parent.name, p.name) for p in library}
    for test in sorted((ROOT / "test/stdlib").glob("*/*.dyn")):
        if (test.parent.name, test.name) not in names:
            found.append(f"test/stdlib/{test.parent.name}/{test.name}: tests nothing in stdlib/")
    print("\n".join(found) or f"{len(library)} files of the library, each with its test")
    sys.exit(1 if found or not library else 0)


if __name__ == "__main__":
    main()
