"""The clipped gradient of an MLP in JAX, and a step along it: a scan over steps inside one jit. Answers as mlp_jax.py.

    gradient_jax.py FOLDER STEPS       FOLDER as bench/mlp_files.py writes it
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp

import jax_steps
import mlp_files
from mlp_loss import loss_of

sizes, x, y, parameters = jax_steps.open_points(mlp_files.read)


def step(loss_of, p, state, x, y):
    loss, g = jax.value_and_grad(loss_of)(p, x, y)
    share = jnp.minimum(1.0, 0.5 / jax_steps.norm(g))
    return [a - 0.01 * share * b for a, b in zip(p, g)], state, loss


jax_steps.serve(jax_steps.scanned(loss_of, sizes, x, y, step), parameters)
