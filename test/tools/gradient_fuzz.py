#!/usr/bin/env python3
"""Random programs whose gradient is compared with differences, and whose compiled run is compared with the evaluator's.

    gradient_fuzz.py --dync build/bin/dync --count 300 --seed 1
    gradient_fuzz.py --dync build/bin/dync --seed 1 --index 17    # prints program 17 and runs it alone

Program k of a seed is always the same. Each is a train in f64: a random loss with an optimizer, clip and schedule of
the library or random ones of its own, with states, draws and reductions. Its probe emits the derivative along a drawn
direction, as the compiled gradient has it and as central differences at two distances have it; where the two
distances disagree the loss has a kink there and nothing is compared. All metrics and the parameters in the end must
be those of `--interpret`. Many trains stand in one file, since starting the process costs more than a small train.
A program that fails is printed in its least form too: bracketed parts are replaced by what is in them, or by numbers,
as long as it fails in the same way.
"""
import argparse
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

PRELUDE = """
probe slopes() {
  d = draw(normal(), like=params)
  emit exact = dot(grads, d)
  emit wide = (loss(params + 1e-4*d) - loss(params - 1e-4*d))/2e-4
  emit close = (loss(params + 1e-5*d) - loss(params - 1e-5*d))/2e-5
}

fn repeated(x: [n], k: int) -> [n] {
  s = x
  repeat k { s = 0.5*s + tanh(x*s) }
  return s
}

fn grown(x: [n]) -> [n] {
  s = x + 0.1
  i = 0
  while sum(s^2) < 3 limit 40 {
    s = 1.25*s + 0.1*x
    i = i + 1
  }
  return s*(i + 1)
}

fn pair_of(x: [n], k: int) -> real {
  s = (a = x, b = sum(x))
  for i in 0..k { s = (a = tanh(s.a + 0.1*s.b), b = 0.5*s.b + sum(s.a)*i/k) }
  return s.b + sum(s.a)
}

fn written(x: [n], y: real) -> [n] {
  z = x
  z[0] = y*z[-1]
  z[n - 1] = z[0]*x[0]
  return z
}

fn stepped(x: [n], k: int) -> [n] {
  z = zeros([n])
  for i in 0..k {
    j = i % n
    z[j] = 0.5*z[j] + x[(i*i + 1) % n]
  }
  return z
}

fn before(x: [n], k: int) -> real {
  s = 0.0
  for i in 0..k {
    s = s + (if i % n > 0 then x[i % n - 1]*x[i % n] else sin(x[0]))
  }
  return s/k
}

fn scanned(x: [n], k: int) -> real {
  c = 1.0
  ys = for i in 0..k {
    c = 0.9*c + 0.1*sin(c*x[0] + i)
    yield c*x
  }
  return mean(ys^2) + c
}

data rows = synthetic(5) {
  x: [3] ~ normal()
  y: real ~ normal()
  c: class(3) = index % 3
}
"""

UNARY = ["tanh({})", "sin({})", "cos({})", "sigmoid({})", "softplus({})", "gelu({})", "erf({})", "exp(tanh({}))",
         "expm1(sin({}))", "log({}^2 + 1)", "log1p({}^2)", "sqrt({}^2 + 0.5)", "rsqrt({}^2 + 0.5)", "relu({})",
         "abs({})", "-{}", "{}^2", "{}^3", "clamp({}, -0.7, 0.9)", "2.0^tanh({})"]
BINARY = ["{} + {}", "{} - {}", "{}*{}", "{}/({}^2 + 1)", "min({}, {})", "max({}, {})", "({}^2 + 0.5)^tanh({})"]
SCALAR_OF_VECTOR = ["sum({})", "mean({})", "prod(tanh({}))", "norm({})", "max({})", "min({})", "logsumexp({})",
                    "var({})", "std({} + 0)", "{}[0]", "{}[-1]", "pair_of({}, {k})", "scanned({}, {k})",
                    "before({}, {k})"]
VECTOR_OF_VECTOR = ["softmax({})", "log_softmax({})", "normalize({})", "cumsum({})", "repeated({}, {k})", "grown({})",
                    "written({}, 0.5)", "stepped({}, {k})"]


# Of a rule: over one leaf at a time, elementwise; {} is such a value again.
RULE_FORMS = ["tanh({})", "sign({})", "abs({})", "-{}", "{}^2", "sqrt({}^2 + 1e-3)", "exp(-{}^2)", "{} + {}", "{} - {}",
              "{}*{}", "{}/({}^2 + 1)", "min({}, {})", "max({}, {})", "where({} > 0.1, {}, {})",
              "(if norm(grad) > 0.3 then {} else {})", "(if t > 1 then {} else {})", "{}*norm({})", "{}*mean({})",
              "{}/(1 + sum({}^2))", "clamp({}, -0.5, 0.5)"]
RULE_LEAVES = ["grad", "param", "s", "u", "a*grad", "grad/t", "draw(normal(), like=grad)", "0.5*ones_like(param)"]
OPTIMIZERS = ["sgd(lr=0.01)", "momentum(lr=0.01)", "nesterov(lr=0.01)", "adam(lr=0.01)", "adamw(lr=0.01)",
              "rmsprop(lr=0.01)", "lion(lr=0.01)", "sgd(lr=cosine(0.01, warmup=1))", "adam(lr=exponential(0.01, rate=0.9))"]
CLIPS = ["by_global_norm(0.7)", "by_norm(0.7)", "by_value(0.2)"]


class Program:
    """One loss over parameters `p` and `q`, and over an example when `rows` is set."""

    def __init__(self, seed, number):
        self.random = random.Random(seed * 1_000_003 + number)
        self.number = number
        r = self.random
        self.rows = r.random() < 0.5
        self.params = {"p": self.shape(), "q": self.shape()} if r.random() < 0.7 else {"p": self.shape()}
        self.fresh = 0
        body = self.scalar(4)
        # Every parameter is asked for, so that none has a derivative that is zero everywhere.
        for name, shape in self.params.items():
            body += f" + 0.1*sum({name}^2)" if shape else f" + 0.1*{name}^2"
        self.body = body + (" + 0.01*sum(x)*y*c" if self.rows else "")
        self.batch = r.choice(["all", "2", "3", "5"])
        self.optimizer = r.choice(OPTIMIZERS)
        self.rule = [self.rule_value(3) for _ in range(3)] if r.random() < 0.5 else []
        self.clip = r.choice(CLIPS) if r.random() < 0.3 else ""

    def shape(self):
        return tuple(self.random.choice([1, 2, 3, 4]) for _ in range(self.random.choice([0, 1, 1, 2, 2, 2])))

    def trips(self):
        return self.random.choice([1, 2, 3, 20])

    def fill(self, form, *parts):
        return form.replace("{k}", str(self.trips())).format(*parts)

    def leaf(self, shape):
        """A value of a shape from parameters, the example and constants."""
        r = self.random
        same = [n for n, s in self.params.items() if s == shape]
        if self.rows:
            same += [n for n, s in (("x", (3,)), ("y", ())) if s == shape]
        if same and r.random() < 0.8:
            return r.choice(same)
        if not shape:
            name, s = r.choice(list(self.params.items()))
            return name + ("[" + ", ".join(str(r.randrange(n)) for n in s) + "]" if s else "")
        name, s = r.choice(list(self.params.items()))
        count, have = math.prod(shape), math.prod(s)
        if not s:
            return f"{name}*ones([{', '.join(map(str, shape))}])"
        places = ", ".join(str(r.randrange(have)) for _ in range(count))
        vector = f"flatten({name})[[{places}]]" if len(s) > 1 else f"{name}[[{places}]]"
        return vector if len(shape) == 1 else f"reshape({vector}, [{', '.join(map(str, shape))}])"

    def value(self, shape, depth):
        return [self.scalar, self.vector, self.matrix][len(shape)](*([depth] if not shape else [shape, depth]))

    def common(self, shape, depth):
        """Forms that exist for every shape."""
        r = self.random
        kind = r.randrange(7)
        a = self.value(shape, depth - 1)
        if kind < 2:
            return r.choice(UNARY).format(f"({a})")
        if kind < 4:
            return r.choice(BINARY).format(f"({a})", f"({self.value(shape, depth - 1)})")
        if kind == 4:
            b = self.value(shape, depth - 1)
            return f"where(({a}) > 0.1, ({b}), ({self.leaf(shape)}))"
        if kind == 5:
            return f"(if ({self.scalar(1)}) > 0.2 then {a} else {self.value(shape, depth - 2)})"
        return f"({a})*({self.scalar(depth - 1)})"

    def scalar(self, depth):
        r = self.random
        if depth <= 0:
            return self.leaf(())
        kind = r.randrange(10)
        if kind < 3:
            return self.common((), depth)
        if kind < 6:
            return self.fill(r.choice(SCALAR_OF_VECTOR), f"({self.vector((r.choice([1, 2, 3]),), depth - 1)})")
        if kind == 6:
            n = (r.choice([1, 2, 3]),)
            return f"({self.vector(n, depth - 1)}) @ ({self.vector(n, depth - 1)})"
        if kind == 7:
            return f"mean({self.matrix((r.choice([1, 2, 3]), r.choice([1, 2, 3])), depth - 1)})"
        if kind == 8:
            i = self.name()
            return f"mean([({self.scalar(depth - 1)})*({i} + 1)/4 for {i} in 0..{self.trips()}])"
        if self.rows and r.random() < 0.5:
            return f"({r.choice(['mean', 'sum'])}({self.leaf(())}*y, over=example))"
        if self.rows:
            return f"({self.vector((3,), depth - 1)})[c]"
        return f"({self.vector((2,), depth - 1)})[{r.randrange(2)}]"

    def vector(self, shape, depth):
        r = self.random
        n = shape[0]
        if depth <= 0:
            return self.leaf(shape)
        kind = r.randrange(10)
        if kind < 3:
            return self.common(shape, depth)
        if kind == 3:
            return self.fill(r.choice(VECTOR_OF_VECTOR), f"({self.vector(shape, depth - 1)})")
        if kind == 4:
            k = r.choice([1, 2, 3])
            return f"({self.matrix((n, k), depth - 1)}) @ ({self.vector((k,), depth - 1)})"
        if kind == 5:
            axis = r.choice([0, 1])
            other = r.choice([1, 2, 3])
            of = (other, n) if axis == 0 else (n, other)
            return f"{r.choice(['sum', 'mean', 'max', 'norm', 'logsumexp', 'var'])}({self.matrix(of, depth - 1)}, axis={axis})"
        if kind == 6 and n > 1:
            k = r.randrange(1, n)
            return f"concat({self.vector((k,), depth - 1)}, {self.vector((n - k,), depth - 1)})"
        if kind == 7:
            k = r.choice([1, 2, 3])
            places = ", ".join(str(r.randrange(k)) for _ in range(n))
            return f"({self.vector((k,), depth - 1)})[[{places}]]"
        if kind == 8:
            low = r.choice([0, 1])
            return f"({self.vector((n + low,), depth - 1)})[{low}:{n + low}]"
        i = self.name()
        return f"[({self.scalar(depth - 1)}) + 0.1*{i} for {i} in 0..{n}]"

    def matrix(self, shape, depth):
        r = self.random
        m, n = shape
        if depth <= 0:
            return self.leaf(shape)
        kind = r.randrange(9)
        if kind < 3:
            return self.common(shape, depth)
        if kind == 3:
            k = r.choice([1, 2, 3])
            return f"({self.matrix((m, k), depth - 1)}) @ ({self.matrix((k, n), depth - 1)})"
        if kind == 4:
            return f"({self.matrix((n, m), depth - 1)}).T"
        if kind == 5:
            return f"outer({self.vector((m,), depth - 1)}, {self.vector((n,), depth - 1)})"
        if kind == 6:
            return f"{r.choice(['softmax', 'log_softmax', 'normalize', 'cumsum'])}({self.matrix(shape, depth - 1)}, axis={r.choice([0, 1])})"
        if kind == 7:
            return f"reshape({self.vector((m*n,), depth - 1)}, [{m}, {n}])"
        i = self.name()
        return f"[({self.vector((n,), depth - 1)})*({i} + 1) for {i} in 0..{m}]"

    def rule_value(self, depth):
        """An elementwise value of a rule."""
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            return r.choice(RULE_LEAVES)
        form = r.choice(RULE_FORMS)
        return form.format(*(f"({self.rule_value(depth - 1)})" for _ in range(form.count("{}"))))

    def rule_text(self):
        """A rule of the program's own: two states, and a step along the gradient."""
        first, second, third = self.rule
        return f"""optimizer rule{self.number}(lr = 0.01, a = 0.9) {{
  state s = zeros_like(param)
  state u = ones_like(param)
  s <- a*s + (1 - a)*tanh({first})
  u <- tanh({second})
  param <- param - lr*(grad + s*u + tanh({third}))
}}
"""

    def name(self):
        self.fresh += 1
        return f"i{self.fresh}"

    def text(self):
        k = self.number
        r = random.Random(k)
        inputs = "x: [3], y: real, c: class(3)" if self.rows else ""
        lines = [self.rule_text()] if self.rule else []
        lines += [f"model net{k}()({inputs}) -> real {{"]
        for name, shape in self.params.items():
            dims = "real" if not shape else "[" + ", ".join(map(str, shape)) + "]"
            lines.append(f"  param {name}: {dims} ~ normal()")
        lines += [f"  return {self.body}", "}", f"train fuzz{k} {{"]
        if self.rows:
            lines.append(f"  data rows batch {self.batch}")
        call = "net(x, y, c)" if self.rows else "net()"
        optimizer = f"rule{k}()" if self.rule else self.optimizer
        lines += [f"  model net = net{k}()", f"  loss {call}"] + [f"  clip {self.clip}"]*bool(self.clip)
        lines += [f"  optimizer {optimizer}", "  steps 3", "  precision f64", f"  seed {r.randrange(1_000)}",
                  "  probe slopes() every 1 steps", "}"]
        return "\n".join(lines)


def parameters(path):
    """Elements of a file of f64 tensors, by name and place."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    found = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        values = struct.unpack(f"<{(end - begin)//8}d", data[begin:end])
        found.update({f"{name}[{i}]": value for i, value in enumerate(values)})
    return found


def run(dync, programs, folder, interpret):
    """Metrics of each program by name and step; None with the message of the compiler."""
    spec = os.path.join(folder, "fuzz.dyn")
    with open(spec, "w") as file:
        file.write(PRELUDE + "\n" + "\n".join(p.text() for p in programs) + "\n\nexperiment all_of_them {\n")
        file.write("".join(f"  run r{p.number} = fuzz{p.number}\n" for p in programs) + "}\n")
    out = os.path.join(folder, "interpreted" if interpret else "compiled")
    command = [dync, "run", spec, "all_of_them", "--quiet", "--no-cache", "--out", out] + ["--interpret"] * interpret
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr + done.stdout).strip() or f"exit status {done.returncode}"
    found = {}
    for base, _, files in os.walk(out):
        if "metrics.jsonl" in files:
            rows = {}
            with open(os.path.join(base, "metrics.jsonl")) as lines:
                for line in lines:
                    row = json.loads(line)
                    rows.setdefault(row["at"], {})[row["metric"]] = float(row["value"])
            # The parameters in the end, each element as a metric.
            rows.setdefault(10**6, {}).update(parameters(os.path.join(base, "final.safetensors")))
            found[os.path.basename(base)] = rows
    return found, ""


def near(a, b, tolerance):
    return a is not None and b is not None and abs(a - b) <= tolerance * (1 + abs(a) + abs(b))


def judge(program, compiled, interpreted):
    """What is wrong with one program's metrics; nothing if all agrees."""
    name = f"r{program.number}"
    one, other = compiled.get(name), interpreted.get(name)
    if not one or not other:
        return "no metrics"
    for step, row in sorted(one.items()):
        for metric, value in row.items():
            # Differences magnify the last digits of the losses.
            tolerance = {"wide": 1e-8, "close": 1e-7}.get(metric, 1e-10)
            if not near(value, other.get(step, {}).get(metric), tolerance):
                return f"step {step}: {metric} is {value} compiled, {other.get(step, {}).get(metric)} interpreted"
        if "exact" in row and near(row["wide"], row["close"], 1e-5) and not near(row["exact"], row["close"], 1e-4):
            return f"step {step}: the gradient gives {row['exact']}, differences {row['close']}"
    return ""


def examine(dync, programs, folder):
    """Messages by program; halves the list until the one that the compiler refuses stands alone."""
    compiled, message = run(dync, programs, folder, False)
    interpreted = None
    if compiled is not None:
        interpreted, message = run(dync, programs, folder, True)
    if compiled is None or interpreted is None:
        if len(programs) == 1:
            return [(programs[0], message)]
        middle = len(programs) // 2
        return examine(dync, programs[:middle], folder) + examine(dync, programs[middle:], folder)
    return [(p, why) for p in programs if (why := judge(p, compiled, interpreted))]


# ---- Shrinking ----

def brackets(text):
    """Ranges of the bracketed parts of a text, outer ones first."""
    found, open_at = [], []
    for i, c in enumerate(text):
        if c == "(":
            open_at.append(i)
        elif c == ")" and open_at:
            found.append((open_at.pop(), i + 1))
    return sorted(found, key=lambda part: part[0] - part[1])


def smaller(text):
    """Texts with one bracketed part replaced by a bracketed part inside it, or by a number."""
    parts = brackets(text)
    for begin, end in parts:
        inner = [text[b:e] for b, e in parts if begin < b and e < end]
        for new in [*inner, "(0.5)"]:
            if len(new) < end - begin:
                yield text[:begin] + new + text[end:]


def kind_of(why):
    """What went wrong, without numbers and places."""
    return re.sub(r"[-+]?\d[\d.e+-]*", "#", why.splitlines()[0])[:60] if why else ""


def shrink(dync, program, why, folder, tries=150):
    """Makes the parts of a program smaller while it fails in the same way."""
    def still_fails():
        found = examine(dync, [program], folder)
        return bool(found) and kind_of(found[0][1]) == kind_of(why)
    parts = [("body", None)] + [("rule", i) for i in range(len(program.rule))]
    again = True
    while again and tries > 0:
        again = False
        for name, at in parts:
            whole = getattr(program, name)
            old = whole if at is None else whole[at]
            for new in smaller(old):
                replaced = new if at is None else [*whole[:at], new, *whole[at + 1:]]
                setattr(program, name, replaced)
                tries -= 1
                if still_fails():
                    again = True
                    break
                setattr(program, name, whole)
                if tries <= 0:
                    return


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dync", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--index", type=int, help="the number of one program")
    parser.add_argument("--group", type=int, default=30, help="trains in one file")
    parser.add_argument("--keep", help="folder for the files of the last group")
    options = parser.parse_args()
    numbers = [options.index] if options.index is not None else range(options.count)
    programs = [Program(options.seed, k) for k in numbers]
    if options.index is not None:
        print(programs[0].text())
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        for at in range(0, len(programs), options.group):
            folder = options.keep or os.path.join(scratch, str(at))
            os.makedirs(folder, exist_ok=True)
            wrong += examine(options.dync, programs[at:at + options.group], folder)
        for program, why in wrong:
            print(f"program {program.number} of seed {options.seed}: {why}\n{program.text()}\n", file=sys.stderr)
            shrink(options.dync, program, why, scratch)
            print(f"least form:\n{program.text()}\n", file=sys.stderr)
    print(f"{len(programs)} programs, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
