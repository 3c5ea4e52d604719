"""The digits MLP in JAX's best form: a scan over steps inside one jit. Reads a line from stdin, answers with one.

    round      times one scan of STEPS steps, prints seconds
    losses     prints the losses of the first STEPS steps
"""
import csv
import gzip
import json
import math
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import optax

STEPS, BATCH = 1000, 32
UNROLL = int(sys.argv[1]) if len(sys.argv) > 1 else 1

path = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv.gz"
with gzip.open(path, "rt") as file:
    table = [[float(x) for x in row] for row in csv.reader(file)]
images = jnp.array([row[:64] for row in table], jnp.float32) / 16
labels = jnp.array([int(row[64]) for row in table])
batches = len(table) // BATCH

params = {
    "W1": jnp.array([[0.2 * math.sin(1 + 32 * i + j) for j in range(32)] for i in range(64)], jnp.float32),
    "b1": jnp.zeros(32),
    "W2": jnp.array([[0.3 * math.sin(2 + 10 * i + j) for j in range(10)] for i in range(32)], jnp.float32),
    "b2": jnp.zeros(10),
}
rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3, weight_decay=0.01))


def loss_of(p, x, y):
    z = jnp.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    return optax.softmax_cross_entropy_with_integer_labels(z, y).mean()


def step(carry, t):
    p, state = carry
    rows = (t % batches) * BATCH + jnp.arange(BATCH)
    loss, grads = jax.value_and_grad(loss_of)(p, images[rows], labels[rows])
    updates, state = rule.update(grads, state, p)
    return (optax.apply_updates(p, updates), state), loss


@jax.jit
def run(carry, start):
    return jax.lax.scan(step, carry, start + jnp.arange(STEPS), unroll=UNROLL)


carry = (params, rule.init(params))
_, losses = jax.block_until_ready(run(carry, 0))
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "losses":
        print(json.dumps([float(x) for x in losses]), flush=True)
    else:
        begin = time.perf_counter()
        jax.block_until_ready(run(carry, 0))
        print(time.perf_counter() - begin, flush=True)
