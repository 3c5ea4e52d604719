"""One optimizer of optax, jitted, parameters and state donated. Reads a line from stdin, answers with one.

    optimizer_jax.py NAME PARAMETERS LEAVES CLIP       a row of bench/optimizers.py; CLIP 0 or 1

    round      prints the seconds of one update
"""
import functools
import operator
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
import optax

import optimizers

name, count, leaves, clip = sys.argv[1], *map(int, sys.argv[2:5])
kind, arguments = optimizers.ROWS[name][2]
rule = operator.attrgetter(kind)(optax)(learning_rate=optimizers.LR, **arguments)
if clip:
    rule = optax.chain(optax.clip_by_global_norm(1.0), rule)
params = [jnp.full((n,), 0.1, jnp.float32) for n in optimizers.lengths(count, leaves)]
grads = [0.01 * jnp.sin(jnp.arange(p.size) % 1000).astype(jnp.float32) for p in params]
state = rule.init(params)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, state, grads):
    updates, state = rule.update(grads, state, params)
    return optax.apply_updates(params, updates), state


repeats = max(1, 5_000_000 // count)
for _ in range(2):
    params, state = update(params, state, grads)
jax.block_until_ready(params)
print("ready", flush=True)
for line in sys.stdin:
    begin = time.perf_counter()
    for _ in range(repeats):
        params, state = update(params, state, grads)
    jax.block_until_ready(params)
    print((time.perf_counter() - begin) / repeats, flush=True)
