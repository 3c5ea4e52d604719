"""From the start of a process to the end of its first step, the digits MLP in JAX. With a folder as argument the
persistent compilation cache is there."""
import math
import sys

import jax

if len(sys.argv) > 1:
    jax.config.update("jax_compilation_cache_dir", sys.argv[1])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
import csv
import gzip
import pathlib

import jax.numpy as jnp
import numpy as np
import optax

path = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv.gz"
with gzip.open(path, "rt") as file:
    table = np.array([[float(x) for x in row] for row in csv.reader(file)], np.float32)
images, labels = jnp.array(table[:, :64] / 16), jnp.array(table[:, 64].astype(np.int32))
i, j = np.indices((64, 32))
k, l = np.indices((32, 10))
params = {"W1": jnp.array(0.2 * np.sin(1 + 32 * i + j), jnp.float32), "b1": jnp.zeros(32),
          "W2": jnp.array(0.3 * np.sin(2 + 10 * k + l), jnp.float32), "b2": jnp.zeros(10)}
rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3, weight_decay=0.01))


def loss_of(p, x, y):
    z = jnp.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    return optax.softmax_cross_entropy_with_integer_labels(z, y).mean()


@jax.jit
def step(p, state, x, y):
    loss, grads = jax.value_and_grad(loss_of)(p, x, y)
    updates, state = rule.update(grads, state, p)
    return optax.apply_updates(p, updates), state, loss


state = jax.jit(rule.init)(params)
print(float(step(params, state, images[:32], labels[:32])[2]))
