"""One optimizer of torch.optim. Reads a line from stdin, answers with one.

    optimizer_torch.py NAME fused|foreach|compiled PARAMETERS LEAVES CLIP      a row of bench/optimizers.py; CLIP 0 or 1

    round      prints the seconds of one update
"""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import torch

import optimizers

name, form, count, leaves, clip = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
torch.set_num_threads(len(os.sched_getaffinity(0)))
parameters = [torch.full((n,), 0.1).requires_grad_() for n in optimizers.lengths(count, leaves)]
for p in parameters:
    p.grad = 0.01 * torch.sin(torch.arange(p.numel()) % 1000)
kind, arguments = optimizers.ROWS[name][1]
rule = getattr(torch.optim, kind)(parameters, lr=optimizers.LR, **({form: True} if form != "compiled" else {}), **arguments)


def update():
    if clip:
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    rule.step()


if form == "compiled":
    update = torch.compile(update)
repeats = max(1, 5_000_000 // count)
for _ in range(3):
    update()
print("ready", flush=True)
for line in sys.stdin:
    begin = time.perf_counter()
    for _ in range(repeats):
        update()
    print((time.perf_counter() - begin) / repeats, flush=True)
