"""An MLP in JAX: a scan over steps inside one jit. Reads a line from stdin, answers with one.

    mlp_jax.py FOLDER STEPS       FOLDER as bench/mlp_files.py writes it

    round      times one scan of STEPS steps, prints seconds a step
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

import mlp_files

STEPS = int(sys.argv[2])
sizes, x, y, parameters = mlp_files.read(sys.argv[1])
x, y = jnp.array(x), jnp.array(y, jnp.int32)
parameters = [jnp.array(p) for p in parameters]
rule = optax.adamw(1e-4, weight_decay=0.01)


def loss_of(p, x, y):
    h = jax.nn.relu(x @ p[0] + p[1])
    h = jax.nn.relu(h @ p[2] + p[3])
    return optax.softmax_cross_entropy_with_integer_labels(h @ p[4] + p[5], y).mean()


def step(carry, t):
    p, state = carry
    rows = (t % sizes.batches) * sizes.batch + jnp.arange(sizes.batch)
    loss, grads = jax.value_and_grad(loss_of)(p, x[rows], y[rows])
    updates, state = rule.update(grads, state, p)
    return (optax.apply_updates(p, updates), state), loss


def run(carry):
    return jax.lax.scan(step, carry, jnp.arange(STEPS))


run = jax.jit(run, donate_argnums=0)
carry, losses = jax.block_until_ready(run((parameters, rule.init(parameters))))
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "losses":
        print(json.dumps([float(loss) for loss in losses]), flush=True)
    else:
        begin = time.perf_counter()
        carry, _ = jax.block_until_ready(run(carry))
        print((time.perf_counter() - begin) / STEPS, flush=True)
