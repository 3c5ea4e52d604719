#!/usr/bin/env python3
"""Breaks specs in small ways and expects `dync check` to refuse each at the right line.

    mutate.py --dync build/bin/dync [--only PATTERN] [--sample N --seed S] [--list]

Mutants come from the examples and from the standard library; a library file is checked together with its test, which
uses it. Kinds:

    rename          one occurrence of a name
    drop-dimension  one dimension of a declared shape
    drop-over       one `over=` or `axis=`
    delete-write    one `<-` of a rule
    unread          a hyperparameter that nobody reads, an argument that nobody takes
    swap            two neighbouring clauses of a train

The right line is the changed one, or one that uses the changed name; a note that points there counts. What is
accepted has to stand in test/mutants/keeps_meaning.txt with its reason, and what stands there has to be accepted.
"""
import argparse
import concurrent.futures
import dataclasses
import fnmatch
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "test/mutants/keeps_meaning.txt"
FRESH = "zq"  # part of every name that a mutant makes up

TOKEN = re.compile(r"""
    (?P<comment>\#[^\n]*)
  | (?P<newline>\n)
  | (?P<blank>[ \t\r]+)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<number>0x[0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d]\w*)
  | (?P<mark><-|->|==|!=|<=|>=|//|\.\.|.)
""", re.X)

RESERVED = set("fn if then else for in while limit repeat return yield and or not true false none use backward".split())
KINDS = set("model data env train experiment estimator privacy combiner clip compressor attack aggregator optimizer "
            "regularizer schedule sampler federated decentral probe fn".split())
# Words that are keywords where a clause or statement begins, or behind one.
CLAUSES = set("data model loss clip optimizer schedule probe eval checkpoint epochs steps rounds precision seed expect "
              "emit stop when at phase step".split())
STATEMENTS = CLAUSES | set("param state frozen fixed run sweep return emit".split())
HANGING = set("batch all shuffle drop every on except otherwise split with from as seed step steps epoch epochs "
              "bounds".split())
TYPES = set("real int bool string f64 f32 f16 bf16 i64 i32 u8 class tree csv idx synthetic new".split())


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    begin: int
    line: int
    depth: int = 0        # open brackets of any kind around it
    starts: bool = False  # first of its statement
    decl: str = ""        # name of the declaration it stands in

    @property
    def end(self):
        return self.begin + len(self.text)


@dataclasses.dataclass
class Mutant:
    kind: str
    file: str
    what: str
    text: str
    lines: set

    @property
    def id(self):
        return f"{self.kind} {self.file} {self.what}"


CONTINUES = {"+", "-", "*", "/", "//", "%", "@", "^", "==", "!=", "<", "<=", ">", ">=", ",", "=", "<-", "~", "->", "..",
             ".", "then", "else", "in", "and", "or", "not", "(", "["}


def tokenize(text):
    """Tokens without blanks and comments; `starts` marks where statements begin, as the compiler's filter does."""
    tokens, brackets, line, fresh = [], [], 1, True
    for match in TOKEN.finditer(text):
        kind, word = match.lastgroup, match.group()
        if kind == "newline":
            line += 1
            inside = brackets and brackets[-1] in "(["
            if not inside and not (tokens and tokens[-1].text in CONTINUES):
                fresh = True
            continue
        if kind in ("blank", "comment"):
            continue
        if word in ")]}" and kind == "mark" and brackets:
            brackets.pop()
        starts = fresh and word not in ("else", "then", "backward", "}")
        tokens.append(Token(kind, word, match.start(), line, len(brackets), starts))
        fresh = kind == "mark" and word in "{;"
        if kind == "mark" and word in "([{":
            brackets.append(word)
    decl = ""
    for i, token in enumerate(tokens):
        if token.starts and token.depth == 0:
            name = tokens[i + 1].text if token.text in KINDS and i + 1 < len(tokens) else token.text
            decl = name
        token.decl = decl
    return tokens


def lines_of(tokens, name, decl=None):
    return {t.line for t in tokens if t.text == name and decl in (None, t.decl)}


def reached(tokens, names, decl):
    """Lines of a declaration that use one of the names, or a local made from one of them."""
    names, grown = set(names), True
    while grown:
        grown = False
        for i, token in enumerate(tokens):
            if token.decl != decl or not token.starts or i + 1 == len(tokens) or tokens[i + 1].text != "=":
                continue
            uses = {t.text for t in tokens[i + 2:statement_end(tokens, i)]}
            if token.text not in names and uses & names:
                names.add(token.text)
                grown = True
    return {t.line for t in tokens if t.decl == decl and t.text in names}


def edit(text, begin, end, replacement):
    return text[:begin] + replacement + text[end:]


def closing(tokens, i):
    """Index of the bracket that closes tokens[i]."""
    return next(k for k in range(i + 1, len(tokens)) if tokens[k].depth == tokens[i].depth and tokens[k].text in ")]}")


def pieces(tokens, i):
    """Token ranges [begin, end) between the commas of the bracket tokens[i]."""
    last, inner, out, begin = closing(tokens, i), tokens[i].depth + 1, [], i + 1
    for k in range(i + 1, last):
        if tokens[k].text == "," and tokens[k].depth == inner:
            out.append((begin, k))
            begin = k + 1
    if last > begin:
        out.append((begin, last))
    return out


def without_piece(text, tokens, bracket, ranges, k):
    """The text without piece k, and without one comma beside it."""
    begin, end = ranges[k]
    if k + 1 < len(ranges):
        return edit(text, tokens[begin].begin, tokens[ranges[k + 1][0]].begin, "")
    start = tokens[begin - 1].begin if k > 0 else tokens[begin].begin
    return edit(text, start, tokens[end - 1].end, "")


# ---- The kinds ----

def is_keyword(tokens, i):
    token = tokens[i]
    follows = tokens[i + 1].text if i + 1 < len(tokens) else ""
    if token.text in RESERVED or token.text in TYPES:
        return True
    if follows in ("=", "(", ".", ")", ",", "]") and not (token.starts and follows == "("):
        return False
    if token.starts and token.text in STATEMENTS | KINDS:
        return True
    return token.text in HANGING and not token.starts


def rename(file, text, tokens):
    seen = {}
    # Without its file's own name the library would give the test the original.
    own = pathlib.PurePath(file).stem if file.startswith("stdlib/") else ""
    for i, token in enumerate(tokens):
        if token.kind == "name" and token.text != own and not is_keyword(tokens, i):
            seen.setdefault((token.decl, token.text), []).append(token)
    for (decl, name), places in seen.items():
        for label, token in (("first", places[0]), ("last", places[-1])):
            if label == "last" and len(places) == 1:
                continue
            changed = edit(text, token.begin, token.end, name + FRESH)
            yield Mutant("rename", file, f"{decl}:{name}:{label}", changed, {token.line} | lines_of(tokens, name))


def drop_dimension(file, text, tokens):
    for i, token in enumerate(tokens):
        if token.text != "[" or i < 2:
            continue
        typed = tokens[i - 2].text in (":", "->") and tokens[i - 1].text in TYPES
        if not (tokens[i - 1].text in (":", "->") or typed):
            continue
        colon = i - 2 if typed else i - 1
        if tokens[colon].text == ":" and tokens[colon - 1].kind != "name":
            continue
        name = tokens[colon - 1].text if tokens[colon].text == ":" else "result"
        ranges = pieces(tokens, i)
        for k, (begin, end) in enumerate(ranges):
            dimension = text[tokens[begin].begin:tokens[end - 1].end]
            yield Mutant("drop-dimension", file, f"{token.decl}:{name}:{dimension}",
                         without_piece(text, tokens, i, ranges, k),
                         {token.line} | reached(tokens, {name, dimension}, token.decl))


def drop_over(file, text, tokens):
    for i, token in enumerate(tokens):
        if token.text != "(" or i == 0:
            continue
        ranges = pieces(tokens, i)
        for k, (begin, end) in enumerate(ranges):
            if end - begin > 2 and tokens[begin].text in ("over", "axis") and tokens[begin + 1].text == "=":
                axis = text[tokens[begin + 2].begin:tokens[end - 1].end]
                # A reduction over everything may be refused where its value is used.
                made = [t.text for t, after in zip(tokens, tokens[1:]) if t.line == token.line and t.starts and after.text == "="]
                yield Mutant("drop-over", file, f"{token.decl}:{tokens[i - 1].text}:{axis}",
                             without_piece(text, tokens, i, ranges, k),
                             {token.line} | reached(tokens, made, token.decl))


def statement_end(tokens, i):
    """Index past the last token of the statement that starts at i."""
    k = i + 1
    while k < len(tokens) and tokens[k].depth >= tokens[i].depth and not (
            tokens[k].depth == tokens[i].depth and (tokens[k].starts or tokens[k].text == ";")):
        k += 1
    return k


def delete_write(file, text, tokens):
    for i, token in enumerate(tokens):
        if not token.starts or token.kind != "name":
            continue
        end = statement_end(tokens, i)
        if any(t.text == "<-" and t.depth == token.depth for t in tokens[i:end]):
            header = next(t.line for t in tokens if t.decl == token.decl)
            # What only this statement read is unread now.
            read = {t.text for t in tokens[i:end] if t.kind == "name"}
            yield Mutant("delete-write", file, f"{token.decl}:{token.text}",
                         edit(text, token.begin, tokens[end - 1].end, ""),
                         {token.line, header}.union(*(lines_of(tokens, name, token.decl) for name in read)))


def unread(file, text, tokens):
    for i, token in enumerate(tokens):
        if token.text != "(" or i < 2:
            continue
        last = closing(tokens, i)
        declares = tokens[i - 2].text in KINDS and tokens[i - 2].starts and tokens[i - 1].kind == "name"
        rule = tokens[i - 2].text in ("optimizer", "clip", "probe") and tokens[i - 2].starts and token.depth > 0
        comma = ", " if last > i + 1 else ""
        if declares and token.depth == 0:
            changed = edit(text, tokens[last].begin, tokens[last].begin, f"{comma}option_{FRESH} = 1.0")
            yield Mutant("unread", file, token.decl, changed, {tokens[last].line, token.line})
        elif rule:
            changed = edit(text, tokens[last].begin, tokens[last].begin, f"{comma}option_{FRESH}=1.0")
            yield Mutant("unread", file, f"{token.decl}:{tokens[i - 1].text}", changed, {tokens[last].line, token.line})


def swap(file, text, tokens):
    for i, token in enumerate(tokens):
        if token.text != "train" or not token.starts or token.depth:
            continue
        block = next(k for k in range(i, len(tokens)) if tokens[k].text == "{")
        inner, end, k, clauses = tokens[block].depth + 1, closing(tokens, block), block + 1, []
        while k < end:
            stop = min(statement_end(tokens, k), end)
            clauses.append((k, stop))
            k = stop
        assert all(tokens[a].depth == inner for a, _ in clauses)
        for (a, a_end), (b, b_end) in zip(clauses, clauses[1:]):
            first = text[tokens[a].begin:tokens[a_end - 1].end]
            second = text[tokens[b].begin:tokens[b_end - 1].end]
            between = text[tokens[a_end - 1].end:tokens[b].begin]
            changed = edit(text, tokens[a].begin, tokens[b_end - 1].end, second + between + first)
            lines = set(range(tokens[a].line, tokens[b_end - 1].line + 1))
            yield Mutant("swap", file, f"{token.decl}:{tokens[a].text}/{tokens[b].text}", changed, lines)


def mutants_of(path):
    text, file = path.read_text(), path.relative_to(ROOT).as_posix()
    tokens = tokenize(text)
    seen = {}
    for make in (rename, drop_dimension, drop_over, delete_write, unread, swap):
        for mutant in make(file, text, tokens):
            # The same kind of change twice in one declaration: numbered.
            seen[mutant.id] = seen.get(mutant.id, 0) + 1
            if seen[mutant.id] > 1:
                mutant.what += f"#{seen[mutant.id]}"
            yield mutant


# ---- Running them ----

def companion(file):
    """What a library file is checked with: its test."""
    return (ROOT / "test" / file).read_text() if file.startswith("stdlib/") else ""


def prepare(folder):
    """Folders at the same depth as the originals, so that relative paths lead to the same files."""
    (folder / "examples").mkdir(parents=True)
    (folder / "examples/data").symlink_to(ROOT / "examples/data")
    (folder / "test/stdlib").mkdir(parents=True)
    (folder / "test/reference").symlink_to(ROOT / "test/reference")
    for kind in (ROOT / "test/stdlib").iterdir():
        if kind.is_dir():
            (folder / "test/stdlib" / kind.name).mkdir()


def place(folder, number, mutant):
    parent = pathlib.PurePath(mutant.file).parent
    base = folder / ("test" / parent if mutant.file.startswith("stdlib/") else parent)
    path = base / f"m{number}.dyn"
    path.write_text(mutant.text + ("\n" + companion(mutant.file) if companion(mutant.file) else ""))
    return path


MESSAGE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?P<severity>error|note)", re.M)
CHAIN = re.compile(r"from (?P<file>[^:\n]+):(?P<line>\d+)$", re.M)


def judge(dync, path, mutant):
    """("refused" | "misplaced" | "accepted" | "crashed", output)"""
    try:
        done = subprocess.run([dync, "check", str(path)], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "crashed", "timed out"
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return "accepted", output
    if done.returncode < 0 or done.returncode > 2:
        return "crashed", output
    places = [*MESSAGE.finditer(output), *CHAIN.finditer(output)]
    own = {int(m["line"]) for m in places if pathlib.Path(m["file"]).name == path.name}
    # A message at a use leads to the changed name as well.
    leads = mutant.kind == "rename" and re.search(rf"did you mean `\w*{FRESH}`", output)
    return ("refused" if leads or own & mutant.lines else "misplaced"), output


def read_list():
    entries = []
    for line in LIST.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        pattern, _, reason = line.partition(" # ")
        if not reason.strip():
            sys.exit(f"{LIST}: no reason: {line}")
        entries.append(" ".join(pattern.split()))
    return entries


# Files whose errors stand with who uses them: `dync check` of the file alone cannot say the line. Their tests judge them.
LEFT_OUT = {
    "stdlib/distributions/*": "a field of a record is known to those who read it",
    "stdlib/init/*": "a field of a record is known to those who read it",
    "stdlib/losses/contrastive.dyn": "sizes that must agree meet at the call",
    "stdlib/losses/kl_divergence.dyn": "sizes that must agree meet at the call",
}


def left_out(file):
    return any(fnmatch.fnmatchcase(file, pattern) for pattern in LEFT_OUT)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dync")
    parser.add_argument("--only", default="*", help="mutants whose id matches")
    parser.add_argument("--sample", type=int, default=0, help="that many, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print the ids and stop")
    parser.add_argument("--verbose", action="store_true", help="print what the compiler said of the others")
    options = parser.parse_args()

    files = sorted((ROOT / "examples").glob("*.dyn")) + sorted((ROOT / "stdlib").glob("*/*.dyn"))
    files = [path for path in files if not left_out(path.relative_to(ROOT).as_posix())]
    mutants = [m for path in files for m in mutants_of(path) if fnmatch.fnmatchcase(m.id, options.only)]
    if options.sample and options.sample < len(mutants):
        chosen = sorted(random.Random(options.seed).sample(range(len(mutants)), options.sample))
        mutants = [mutants[i] for i in chosen]
    if options.list:
        print("\n".join(m.id for m in mutants))
        return

    allowed, used = read_list(), set()
    counts = {"refused": 0, "kept": 0, "accepted": 0, "misplaced": 0, "crashed": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        mutated = {m.file for m in mutants}
        for path in (p for p in files if p.relative_to(ROOT).as_posix() in mutated):
            # The originals pass, or nothing below means anything.
            plain = Mutant("original", path.relative_to(ROOT).as_posix(), "", path.read_text(), set())
            verdict, output = judge(options.dync, place(folder, "original", plain), plain)
            if verdict != "accepted":
                sys.exit(f"{plain.file} itself is refused:\n{output}")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(judge, options.dync, place(folder, i, m), m) for i, m in enumerate(mutants)]
            for mutant, job in zip(mutants, jobs):
                verdict, output = job.result()
                matching = [p for p in allowed if fnmatch.fnmatchcase(mutant.id, p)]
                if verdict == "accepted" and matching:
                    verdict = "kept"
                    used.update(matching)
                counts[verdict] += 1
                if verdict not in ("refused", "kept"):
                    print(f"{verdict}: {mutant.id} (line {', '.join(map(str, sorted(mutant.lines)))})")
                    if options.verbose or verdict == "crashed":
                        print("    " + output.replace("\n", "\n    "))
    partial = options.sample or options.only != "*"
    stale = [] if partial else [p for p in allowed if p not in used]
    for pattern in stale:
        print(f"stale: no accepted mutant matches `{pattern}` of {LIST.name}")
    print(f"{len(mutants)} mutants: " + ", ".join(f"{n} {what}" for what, n in counts.items() if n))
    bad = counts["accepted"] + counts["misplaced"] + counts["crashed"] + len(stale)
    sys.exit(1 if bad or not mutants else 0)


if __name__ == "__main__":
    main()
