#!/usr/bin/env python3
"""Records 30 steps of a rule as a public library has it, in float64.

    record_library.py RULE > RULE.json

RULES below says which library, with what arguments. Rules of pytorch_optimizer need torch and pytorch_optimizer,
those of optax jax and optax. The problems are rosenbrock, softmax and matrix of problems.dyn: a vector, a matrix
beside a vector with entries whose gradient is exactly 0, and a matrix.
"""
import gzip
import json
import pathlib
import sys

import numpy as np

STEPS = 30
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples/data/digits.csv.gz"
# Products are summed in another order: 30 steps of a smooth recurrence keep that near 1e-14.
TOLERANCE = {"loss_rel": 1e-12, "params_abs": 1e-12}


# ---- problems: initial parameters and a loss of (parameters, step), with either library's functions ----

class Problems:
    def __init__(self, xp, softmax_loss):
        self.xp, self.softmax_loss = xp, softmax_loss
        self.rows = np.loadtxt(gzip.open(DIGITS, "rt"), delimiter=",")

    def rosenbrock(self):
        def loss(p, step):
            x = p["x"]
            return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        return {"x": np.array([-1.2 if i % 2 == 0 else 1.0 for i in range(10)])}, loss

    def softmax(self):
        def loss(p, step):
            rows = self.rows[32 * step:32 * step + 32]
            return self.softmax_loss(self.xp(rows[:, :64] / 16) @ p["W"] + p["b"], rows[:, 64].astype(int))
        return {"W": np.zeros((64, 10)), "b": np.zeros(10)}, loss

    def matrix(self):
        i, j = np.mgrid[0:12, 0:8]
        A = self.xp(np.sin(1 + 2 * i + 3 * j + i * j))
        i, j = np.mgrid[0:6, 0:5]
        B = self.xp(np.cos(1 + i + 4 * j + 2 * i * j))
        i, j = np.mgrid[0:12, 0:5]
        C = self.xp(np.sin(2 + 5 * i + j + 3 * i * j))
        i, j = np.mgrid[0:8, 0:6]

        def loss(p, step):
            return 0.5 * ((A @ p["X"] @ B - C) ** 2).sum() / 60
        return {"X": 0.5 * np.cos(3 + i + 2 * j + i * j)}, loss


# ---- the two libraries ----

def run_torch(make, problem):
    import torch
    torch.set_default_dtype(torch.float64)

    def softmax_loss(scores, labels):
        return torch.nn.functional.cross_entropy(scores, torch.from_numpy(labels))
    start, loss = getattr(Problems(torch.from_numpy, softmax_loss), problem)()
    p = {name: torch.nn.Parameter(torch.from_numpy(x.copy())) for name, x in start.items()}
    rule = make(list(p.values()))
    losses = []
    for step in range(STEPS):
        rule.zero_grad()
        value = loss(p, step)
        value.backward()
        losses.append(value.item())
        rule.step()
    return losses, {name: x.detach().numpy() for name, x in p.items()}


def run_optax(make, problem):
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import optax

    def softmax_loss(scores, labels):
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(scores, labels))
    p, loss = getattr(Problems(jnp.asarray, softmax_loss), problem)()
    p = {name: jnp.asarray(x) for name, x in p.items()}
    rule = make()
    state = rule.init(p)
    losses = []
    for step in range(STEPS):
        value, g = jax.value_and_grad(loss)(p, step)
        losses.append(float(value))
        update, state = rule.update(g, state, p, value=value)
        p = optax.apply_updates(p, update)
    return losses, {name: np.asarray(x) for name, x in p.items()}


# ---- what is recorded: class or function, its arguments, lr by problem ----

def pytorch(name, lr, before=lambda rule: None, lr_less=0, group=None, **arguments):
    """`before` mends a rule before its first step; `lr_less` is what the library itself adds to lr; `group` is said of
    the parameters."""
    def make(lr):
        import pytorch_optimizer

        def build(params):
            params = [{"params": params, **group}] if group else params
            rule = getattr(pytorch_optimizer, name)(params, lr=lr - lr_less, foreach=False, **arguments)
            before(rule)
            return rule
        return build
    return "pytorch_optimizer 4.1.0: " + name, run_torch, make, lr, arguments


def optax(name, build, lr, **arguments):
    def make(lr):
        import optax
        return lambda: optax.with_extra_args_support(build(optax, lr, **arguments))
    return "optax 0.2.8: " + name, run_optax, make, lr, arguments


def double_weights(rule):
    """QHAdam keeps the weights of its averages in float32."""
    init = rule.init_group

    def init_group(group, **more):
        init(group, **more)
        for state in rule.state.values():
            state.update({name: state[name].double() for name in ("beta1_weight", "beta2_weight")})
    rule.init_group = init_group


def double_products(rule):
    """Muon's iteration runs in bfloat16."""
    import torch
    module = sys.modules[type(rule).__module__]
    plain = module.zero_power_via_newton_schulz_5
    module.zero_power_via_newton_schulz_5 = lambda g, *a, **k: plain(g, *a, **k | {"dtype": torch.float64})


def without_inner_eps(rule):
    """1e-15 is added under the roots of second moments."""
    plain = rule.apply_ams_bound
    rule.apply_ams_bound = lambda *a, **k: plain(*a, **k, exp_avg_sq_eps=0.0)


def pytorch_over(name, wrapped, lr, **arguments):
    """A wrapper of pytorch_optimizer over torch's SGD."""
    def make(lr):
        import pytorch_optimizer
        import torch
        return lambda params: getattr(pytorch_optimizer, name)(torch.optim.SGD(params, lr=lr), foreach=False, **arguments)
    return f"pytorch_optimizer 4.1.0: {name} over {wrapped}", run_torch, make, lr, arguments


ADAM_LIKE = {"rosenbrock": 0.05, "softmax": 0.02, "matrix": 0.05}
SIGN_LIKE = {"rosenbrock": 0.02, "softmax": 0.005, "matrix": 0.02}
SGD_LIKE = {"rosenbrock": 1e-4, "softmax": 0.1, "matrix": 0.1}
RULES = {
    "ademamix": pytorch("AdEMAMix", ADAM_LIKE, betas=(0.9, 0.999, 0.99), alpha=5.0, weight_decay=0.02,
                        weight_decouple=True),
    "adopt": optax("contrib.adopt", lambda o, lr, **k: o.contrib.adopt(lr, **k), ADAM_LIKE, b1=0.9, b2=0.999, eps=1e-6),
    "aggmo": pytorch("AggMo", SGD_LIKE, betas=(0.0, 0.9, 0.99)),
    "amsbound": pytorch("AdaBound", {"softmax": 0.02, "matrix": 0.05}, betas=(0.9, 0.9), final_lr=0.1, gamma=0.02, ams_bound=True),
    "madgrad": pytorch("MADGRAD", SIGN_LIKE, lr_less=1e-6, momentum=0.9, eps=1e-6),
    "qhadam": pytorch("QHAdam", ADAM_LIKE, double_weights, betas=(0.995, 0.99), nus=(0.7, 0.8)),
    "qhm": pytorch("QHM", SGD_LIKE, momentum=0.9, nu=0.7),
    "mars": pytorch("MARS", ADAM_LIKE, without_inner_eps, betas=(0.95, 0.99), gamma=0.025, optimize_1d=True,
                    weight_decay=0.02),
    "ano": pytorch("Ano", SIGN_LIKE, betas=(0.92, 0.99), weight_decay=0.02),
    "exadam": pytorch("EXAdam", ADAM_LIKE, betas=(0.9, 0.999)),
    "kate": pytorch("Kate", {"rosenbrock": 0.02, "softmax": 1e-4, "matrix": 2e-3}, delta=0.1),
    "grokfast": pytorch("GrokFastAdamW", ADAM_LIKE, betas=(0.9, 0.999), grokfast_alpha=0.9, grokfast_lamb=2.0,
                        normalize_lr=False, eps=1e-30),
    "adamc": pytorch("AdamC", ADAM_LIKE, without_inner_eps, betas=(0.9, 0.999), weight_decay=0.05, eps=1e-30),
    "orthograd": pytorch_over("OrthoGrad", "torch SGD", {"rosenbrock": 2e-4, "softmax": 0.5, "matrix": 0.1}),
    "racs": pytorch("RACS", {"matrix": 0.5}, beta=0.9, alpha=0.05, gamma=1.01),
    "normuon": pytorch("NorMuon", {"matrix": 0.05}, double_products, group={"use_muon": True}, momentum=0.95, beta2=0.95),
    "adamuon": pytorch("AdaMuon", {"matrix": 0.05}, double_products, group={"use_muon": True}, betas=(0.9, 0.95)),
    "scion": pytorch("SCION", {"rosenbrock": 0.05, "softmax": 0.1, "matrix": 0.05}, double_products, momentum=0.1),
    "simplified_ademamix": optax(
        "contrib.simplified_ademamix", lambda o, lr, **k: o.contrib.simplified_ademamix(lr, **k),
        {"rosenbrock": 5e-3, "softmax": 2e-3, "matrix": 5e-3}, b1=0.9, b2=0.95, alpha=2.0, weight_decay=0.02),
    "ldog": optax("chain(scale_by_distance_over_gradients, scale(-1))", lambda o, lr, **k: o.chain(
        o.scale_by_distance_over_gradients(**k), o.scale(-lr)),
        {"rosenbrock": 1.0, "softmax": 1.0, "matrix": 1.0}, reps_rel=0.01,
        param_dtype="float64"),  # the first parameters are kept in float32 without it
    "dowg": optax("contrib.dowg", lambda o, lr, **k: o.contrib.dowg(lr, **k),
                  {"rosenbrock": 1.0, "softmax": 1.0, "matrix": 1.0}, init_estim_sq_dist=0.01),
    "normalized_sgd": optax("chain(normalize, sgd)", lambda o, lr: o.chain(o.contrib.normalize(), o.sgd(lr)),
                            {"rosenbrock": 0.05, "softmax": 0.1, "matrix": 0.1}),
    "optimistic": optax("optimistic_gradient_descent", lambda o, lr: o.optimistic_gradient_descent(lr), SGD_LIKE),
    "polyak_step": optax("polyak_sgd", lambda o, lr: o.polyak_sgd(max_learning_rate=lr),
                         {"softmax": 0.8, "matrix": 1.0}),  # on rosenbrock rounding grows twofold a step
}


def main():
    name = sys.argv[1]
    source, run, make, rates, arguments = RULES[name]
    problems = {}
    for problem, lr in rates.items():
        losses, params = run(make(lr), problem)
        problems[problem] = {"hyperparameters": {"lr": lr}, "loss": losses,
                             "params": {n: x.tolist() for n, x in params.items()}, "tolerance": TOLERANCE}
    head = {"name": name, "source": source, "recorded_by": "record_library.py", "formula": [f"stdlib/optimizers/{name}.dyn"],
            "steps": STEPS, "hyperparameters": arguments}
    lines = [f"{json.dumps(key)}:{json.dumps(value)}" for key, value in head.items()]
    cases = ",\n ".join(f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}" for key, value in problems.items())
    print("{\n" + ",\n".join(lines) + ",\n\"problems\":{\n " + cases + "\n}}")


if __name__ == "__main__":
    main()
