"""Twenty products with the Hessian of an MLP in JAX, and a step along the last: a scan inside one jit. Answers as mlp_jax.py.

    hvp_jax.py FOLDER STEPS       FOLDER as bench/mlp_files.py writes it
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import jax

import jax_steps
import mlp_files
from mlp_loss import loss_of

sizes, x, y, parameters = jax_steps.open_points(mlp_files.read)


def normalized(tree):
    size = jax_steps.norm(tree)
    return [a / size for a in tree]


def step(loss_of, p, state, x, y):
    loss, g = jax.value_and_grad(loss_of)(p, x, y)
    product = lambda v: jax.jvp(lambda q: jax.grad(loss_of)(q, x, y), (p,), (v,))[1]
    v = jax.lax.fori_loop(0, 20, lambda i, v: normalized(product(v)), normalized(g))
    return [a - 1e-3 * b for a, b in zip(p, v)], state, loss


jax_steps.serve(jax_steps.scanned(loss_of, sizes, x, y, step), parameters)
