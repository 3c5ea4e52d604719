"""A small CNN in PyTorch. Reads a line from stdin, answers with one.

    cnn_torch.py FOLDER STEPS eager|compiled       FOLDER as bench/cnn_files.py writes it

    round      times STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import torch
from torch.nn.functional import conv2d, cross_entropy, max_pool2d

import cnn_files
import torch_steps

sizes, x, y, parameters = torch_steps.open_points(cnn_files.read)
W1, b1, W2, b2, W3, b3 = parameters


def loss_of(x, y):
    h = max_pool2d(torch.relu(conv2d(x, W1, b1, padding=1)), 2)
    h = max_pool2d(torch.relu(conv2d(h, W2, b2, padding=1)), 2)
    return cross_entropy(torch.addmm(b3, h.flatten(1), W3.T), y)


torch_steps.serve(loss_of, sizes, x, y, parameters)
