"""A small CNN in JAX: a jit a step. Reads a line from stdin, answers with one.

    cnn_jax.py FOLDER STEPS       FOLDER as bench/cnn_files.py writes it

    round      times STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import functools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
import optax

import cnn_files
import jax_steps

sizes, x, y, parameters = jax_steps.open_points(cnn_files.read)


def layer(x, W, b):
    y = jax.lax.conv_general_dilated(x, W, (1, 1), ((1, 1), (1, 1)), dimension_numbers=("NCHW", "OIHW", "NCHW"))
    y = jax.nn.relu(y + b[:, None, None])
    return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def loss_of(p, x, y):
    h = layer(layer(x, p[0], p[1]), p[2], p[3]).reshape(x.shape[0], -1)
    return optax.softmax_cross_entropy_with_integer_labels(h @ p[4].T + p[5], y).mean()


step = jax.jit(functools.partial(jax_steps.step, loss_of))
batches = [(x[at : at + sizes.batch], y[at : at + sizes.batch]) for at in range(0, len(x), sizes.batch)]


def run(p, state):
    losses = []
    for t in range(jax_steps.STEPS):
        p, state, loss = step(p, state, *batches[t % sizes.batches])
        losses.append(loss)
    return p, state, losses


jax_steps.serve(run, parameters)
