"""A small CNN in PyTorch. Reads a line from stdin, answers with one.

    cnn_torch.py FOLDER STEPS eager|compiled       FOLDER as bench/cnn_files.py writes it

    round      times STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import os

import torch
from torch.nn.functional import conv2d, cross_entropy, max_pool2d

import cnn_files

STEPS = int(sys.argv[2])
torch.set_num_threads(len(os.sched_getaffinity(0)))
sizes, x, y, parameters = cnn_files.read(sys.argv[1])
x, y = torch.from_numpy(x), torch.from_numpy(y)
W1, b1, W2, b2, W3, b3 = parameters = [torch.from_numpy(p).requires_grad_() for p in parameters]
rule = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.01, fused=True)


def loss_of(x, y):
    h = max_pool2d(torch.relu(conv2d(x, W1, b1, padding=1)), 2)
    h = max_pool2d(torch.relu(conv2d(h, W2, b2, padding=1)), 2)
    return cross_entropy(torch.addmm(b3, h.flatten(1), W3.T), y)


if sys.argv[3] == "compiled":
    loss_of = torch.compile(loss_of)


def run():
    losses = []
    for t in range(STEPS):
        at = t % sizes.batches * sizes.batch
        loss = loss_of(x[at : at + sizes.batch], y[at : at + sizes.batch])
        rule.zero_grad(set_to_none=True)
        loss.backward()
        rule.step()
        losses.append(loss.detach())
    return losses


losses = run()
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() == "losses":
        print(json.dumps([float(loss) for loss in losses]), flush=True)
    else:
        begin = time.perf_counter()
        run()
        print((time.perf_counter() - begin) / STEPS, flush=True)
