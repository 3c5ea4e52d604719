"""A small transformer in PyTorch. Reads a line from stdin, answers with one.

    transformer_torch.py FOLDER STEPS eager|compiled       FOLDER as bench/transformer_files.py writes it

    round      times STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from torch.nn.functional import cross_entropy, gelu, layer_norm, scaled_dot_product_attention

import torch_steps
import transformer_files

sizes, x, y, parameters = torch_steps.open_points(transformer_files.read)


def loss_of(x, y):
    E, P, *layers, W = parameters
    h = E[x] + P
    for at in range(0, len(layers), 8):
        Q, K, V, O, W1, b1, W2, b2 = layers[at : at + 8]
        z = layer_norm(h, h.shape[-1:])
        q, k, v = ((z @ M).unflatten(-1, (sizes.heads, -1)).transpose(1, 2) for M in (Q, K, V))
        h = h + scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2) @ O
        h = h + gelu(layer_norm(h, h.shape[-1:]) @ W1 + b1) @ W2 + b2
    return cross_entropy((layer_norm(h, h.shape[-1:]) @ W).flatten(0, 1), y.flatten())


torch_steps.serve(loss_of, sizes, x, y, parameters)
