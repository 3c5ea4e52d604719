"""A small CNN in JAX: a jit a step. Reads a line from stdin, answers with one.

    cnn_jax.py FOLDER STEPS       FOLDER as bench/cnn_files.py writes it

    round      times STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
import optax

import cnn_files

STEPS = int(sys.argv[2])
sizes, x, y, parameters = cnn_files.read(sys.argv[1])
x, y = jnp.array(x), jnp.array(y, jnp.int32)
parameters = [jnp.array(p) for p in parameters]
rule = optax.adamw(1e-4, weight_decay=0.01)


def layer(x, W, b):
    y = jax.lax.conv_general_dilated(x, W, (1, 1), ((1, 1), (1, 1)), dimension_numbers=("NCHW", "OIHW", "NCHW"))
    y = jax.nn.relu(y + b[:, None, None])
    return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def loss_of(p, x, y):
    h = layer(layer(x, p[0], p[1]), p[2], p[3]).reshape(x.shape[0], -1)
    return optax.softmax_cross_entropy_with_integer_labels(h @ p[4].T + p[5], y).mean()


@jax.jit
def step(p, state, x, y):
    loss, grads = jax.value_and_grad(loss_of)(p, x, y)
    updates, state = rule.update(grads, state, p)
    return optax.apply_updates(p, updates), state, loss


batches = [(x[at : at + sizes.batch], y[at : at + sizes.batch]) for at in range(0, len(x), sizes.batch)]


def run(p, state):
    losses = []
    for t in range(STEPS):
        p, state, loss = step(p, state, *batches[t % sizes.batches])
        losses.append(loss)
    jax.block_until_ready(p)
    return p, state, losses


p, state, losses = run(parameters, rule.init(parameters))
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "losses":
        print(json.dumps([float(loss) for loss in losses]), flush=True)
    else:
        begin = time.perf_counter()
        p, state, _ = run(p, state)
        print((time.perf_counter() - begin) / STEPS, flush=True)
