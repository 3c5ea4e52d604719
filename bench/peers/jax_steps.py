"""What the peers in JAX have in common: AdamW over batches in order, and the answers to `round` and `losses`."""
import functools
import json
import sys
import time

import jax
import jax.numpy as jnp
import optax

STEPS = int(sys.argv[2])
rule = optax.adamw(1e-4, weight_decay=0.01)


def open_points(read):
    """`read(folder)` of bench/*_files.py as device arrays: sizes, inputs, labels and parameters."""
    sizes, x, y, parameters = read(sys.argv[1])
    return sizes, jnp.array(x), jnp.array(y, jnp.int32), [jnp.array(p) for p in parameters]


def step(loss_of, p, state, x, y):
    """The parameters and the rule's state after a step, and the loss before it."""
    loss, grads = jax.value_and_grad(loss_of)(p, x, y)
    updates, state = rule.update(grads, state, p)
    return optax.apply_updates(p, updates), state, loss


def norm(tree):
    return jnp.sqrt(sum((a * a).sum() for a in tree))


def scanned(loss_of, sizes, x, y, step=step):
    """run(p, state) of `serve`, as one scan over STEPS steps."""

    def scan_step(carry, t):
        rows = (t % sizes.batches) * sizes.batch + jnp.arange(sizes.batch)
        p, state, loss = step(loss_of, *carry, x[rows], y[rows])
        return (p, state), loss

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def run(p, state):
        (p, state), losses = jax.lax.scan(scan_step, (p, state), jnp.arange(STEPS))
        return p, state, losses

    return run


def serve(run, parameters):
    """Runs once, then answers lines from stdin. run(p, state) takes STEPS steps and gives p, state and losses."""
    p, state, losses = jax.block_until_ready(run(parameters, rule.init(parameters)))
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "losses":
            print(json.dumps([float(loss) for loss in losses]), flush=True)
        else:
            begin = time.perf_counter()
            p, state, _ = jax.block_until_ready(run(p, state))
            print((time.perf_counter() - begin) / STEPS, flush=True)
