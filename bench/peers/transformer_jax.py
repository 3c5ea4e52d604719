"""A small transformer in JAX: a scan over steps inside one jit. Reads a line from stdin, answers with one.

    transformer_jax.py FOLDER STEPS       FOLDER as bench/transformer_files.py writes it

    round      times one scan of STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
import optax

import jax_steps
import transformer_files

sizes, x, y, parameters = jax_steps.open_points(transformer_files.read)
SEEN = jnp.tril(jnp.ones((sizes.context, sizes.context), bool))


def normalized(x):
    z = x - x.mean(-1, keepdims=True)
    return z / jnp.sqrt((z * z).mean(-1, keepdims=True) + 1e-5)


def loss_of(p, x, y):
    E, P, *layers, W = p
    h = E[x] + P
    for at in range(0, len(layers), 8):
        Q, K, V, O, W1, b1, W2, b2 = layers[at : at + 8]
        z = normalized(h)
        q, k, v = ((z @ M).reshape(*z.shape[:2], sizes.heads, -1) for M in (Q, K, V))
        score = jnp.einsum("bihd,bjhd->bhij", q, k) / jnp.sqrt(q.shape[-1])
        weights = jax.nn.softmax(jnp.where(SEEN, score, -jnp.inf), axis=-1)
        h = h + jnp.einsum("bhij,bjhd->bihd", weights, v).reshape(h.shape) @ O
        h = h + jax.nn.gelu(normalized(h) @ W1 + b1, approximate=False) @ W2 + b2
    return optax.softmax_cross_entropy_with_integer_labels(normalized(h) @ W, y).mean()


jax_steps.serve(jax_steps.scanned(loss_of, sizes, x, y), parameters)
