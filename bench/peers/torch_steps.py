"""What the peers in PyTorch have in common: AdamW over batches in order, and the answers to `round` and `losses`."""
import json
import os
import sys
import time

import torch


def open_points(read):
    """`read(folder)` of bench/*_files.py as tensors: sizes, inputs, labels and parameters that have gradients."""
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    sizes, x, y, parameters = read(sys.argv[1])
    return sizes, torch.from_numpy(x), torch.from_numpy(y), [torch.from_numpy(p).requires_grad_() for p in parameters]


def serve(loss_of, sizes, x, y, parameters):
    """Runs once, then answers lines from stdin. argv: FOLDER STEPS eager|compiled."""
    steps = int(sys.argv[2])
    rule = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.01, fused=True)
    if sys.argv[3] == "compiled":
        loss_of = torch.compile(loss_of)

    def run():
        losses = []
        for t in range(steps):
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
            print((time.perf_counter() - begin) / steps, flush=True)
