#!/usr/bin/env python3
"""Records 30 steps of rules that hold another rule, and of Muon, in float64.

    record_held.py RULE > RULE.json        (ema, muon; needs jax)

Gradients are JAX's, the recurrences are written out here in plain NumPy, so nothing of Dyn takes part. The
problems are those of problems.dyn, and for Muon two more, of test/stdlib/optimizers/muon.dyn.
"""
import gzip
import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
STEPS = 30
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples/data/digits.csv.gz"


# ---- problems: initial parameters and a loss of (parameters, step) ----

def digits(step):
    if not hasattr(digits, "rows"):
        digits.rows = np.loadtxt(gzip.open(DIGITS, "rt"), delimiter=",")
    rows = digits.rows[32 * step:32 * step + 32]
    return rows[:, :64] / 16, rows[:, 64].astype(int)


def cross_entropy(scores, labels):
    return jnp.mean(jax.nn.logsumexp(scores, axis=1) - scores[jnp.arange(len(labels)), labels])


def rosenbrock():
    def loss(p, step):
        x = p["x"]
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    return {"x": np.array([-1.2 if i % 2 == 0 else 1.0 for i in range(10)])}, loss


def softmax():
    def loss(p, step):
        x, y = digits(step)
        return cross_entropy(x @ p["W"] + p["b"], y)
    return {"W": np.zeros((64, 10)), "b": np.zeros(10)}, loss


def mlp():
    def loss(p, step):
        x, y = digits(step)
        return cross_entropy(jnp.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"], y)
    i, j = np.mgrid[0:64, 0:32]
    k, l = np.mgrid[0:32, 0:10]
    start = {"W1": 0.2 * np.sin(1 + 32 * i + j), "b1": np.zeros(32),
             "W2": 0.3 * np.sin(2 + 10 * k + l), "b2": np.zeros(10)}
    return start, loss


def matrix(transposed=False):
    i, j = np.mgrid[0:12, 0:8]
    A = np.sin(1 + 2 * i + 3 * j + i * j)
    i, j = np.mgrid[0:6, 0:5]
    B = np.cos(1 + i + 4 * j + 2 * i * j)
    i, j = np.mgrid[0:12, 0:5]
    C = np.sin(2 + 5 * i + j + 3 * i * j)
    i, j = np.mgrid[0:8, 0:6]
    X = 0.5 * np.cos(3 + i + 2 * j + i * j)

    def loss(p, step):
        return 0.5 * jnp.sum((A @ (p["X"].T if transposed else p["X"]) @ B - C) ** 2) / 60
    return {"X": X.T.copy() if transposed else X}, loss


# ---- recurrences on trees of NumPy arrays ----

def tree(f, *trees):
    return {name: f(*(t[name] for t in trees)) for name in trees[0]}


class AdamW:
    def __init__(self, lr, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
        self.lr, self.b1, self.b2, self.eps, self.decay = lr, b1, b2, eps, decay
        self.t, self.m, self.v = 0, None, None

    def __call__(self, p, g, gradient):
        self.t += 1
        zeros = tree(np.zeros_like, p)
        self.m = tree(lambda m, g: self.b1 * m + (1 - self.b1) * g, self.m or zeros, g)
        self.v = tree(lambda v, g: self.b2 * v + (1 - self.b2) * g ** 2, self.v or zeros, g)

        def step(p, m, v):
            hat = m / (1 - self.b1 ** self.t)
            return p - self.lr * (hat / (np.sqrt(v / (1 - self.b2 ** self.t)) + self.eps) + self.decay * p)
        return tree(step, p, self.m, self.v)


class Ema:
    def __init__(self, base, decay=0.9):
        self.base, self.decay, self.served = base, decay, None

    def __call__(self, p, g, gradient):
        average = self.served or p
        p = self.base(p, g, gradient)
        self.served = tree(lambda a, p: self.decay * a + (1 - self.decay) * p, average, p)
        return p


class Muon:
    """Matrices by Muon, the rest by gradient descent."""

    def __init__(self, lr, other=0.1, momentum=0.95, iterations=5):
        self.lr, self.other, self.momentum, self.iterations, self.b = lr, other, momentum, iterations, {}

    def matrix(self, name, p, g):
        b = self.b[name] = self.momentum * self.b.get(name, 0) + g
        u = g + self.momentum * b
        x = u / np.linalg.norm(u)
        for _ in range(self.iterations):
            a = x @ x.T
            x = 3.4445 * x - 4.775 * a @ x + 2.0315 * a @ a @ x
        return p - self.lr * np.sqrt(max(1, p.shape[0] / p.shape[1])) * x

    def __call__(self, p, g, gradient):
        return {n: self.matrix(n, p[n], g[n]) if p[n].ndim == 2 else p[n] - self.other * g[n] for n in p}


# ---- what is recorded ----

def cases(rates, rule):
    problems = {"rosenbrock": rosenbrock, "softmax": softmax, "mlp": mlp, "matrix": matrix}
    return {name: (problems[name], {"lr": lr}, rule(lr)) for name, lr in rates.items()}


RECORDS = {
    "ema": lambda: cases({"rosenbrock": 0.05, "softmax": 0.02, "mlp": 0.01, "matrix": 0.05},
                         lambda lr: Ema(AdamW(lr))),
    "muon": lambda: {
        "matrix": (matrix, {"lr": 0.02}, Muon(0.02)),
        "wide": (lambda: matrix(transposed=True), {"lr": 0.02}, Muon(0.02)),
        "mixed": (mlp, {"lr": 0.02}, Muon(0.02)),
    },
}
HELD = {"ema": "adamw(lr), decay 0.9", "muon": "momentum 0.95, 5 iterations; other leaves: sgd(0.1)"}


def record(problem, hyperparameters, rule):
    p, loss = problem()
    losses = []
    for step in range(STEPS):
        value, g = jax.value_and_grad(loss)(p, step)
        losses.append(float(value))
        def gradient(at, step=step):
            return tree(np.asarray, jax.grad(loss)(at, step))
        p = rule(p, tree(np.asarray, g), gradient)
    kept = getattr(rule, "served", None) or p
    # Products are summed in another order: 30 steps of a smooth recurrence keep that near 1e-13.
    return {"hyperparameters": hyperparameters, "loss": losses, "params": {n: x.tolist() for n, x in kept.items()},
            "tolerance": {"loss_rel": 1e-10, "params_abs": 1e-10}}


def main():
    name = sys.argv[1]
    problems = {key: record(*case) for key, case in RECORDS[name]().items()}
    head = {"name": name, "source": f"record_held.py with jax {jax.__version__} (gradients) and numpy {np.__version__} "
            "(recurrence)", "formula": [f"stdlib/optimizers/{name}.dyn"],
            "conventions": "The parameters recorded are those that the rule serves.", "steps": STEPS,
            "hyperparameters": {"as recorded": HELD[name]}}
    lines = [f"{json.dumps(key)}:{json.dumps(value)}" for key, value in head.items()]
    cases = ",\n ".join(f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}" for key, value in problems.items())
    print("{\n" + ",\n".join(lines) + ",\n\"problems\":{\n " + cases + "\n}}")


if __name__ == "__main__":
    main()
