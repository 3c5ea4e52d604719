"""An MLP in PyTorch. Reads a line from stdin, answers with one.

    mlp_torch.py FOLDER STEPS eager|compiled       FOLDER as bench/mlp_files.py writes it

    round      times STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import torch

import mlp_files
import torch_steps

sizes, x, y, parameters = torch_steps.open_points(mlp_files.read)
W1, b1, W2, b2, W3, b3 = parameters


def loss_of(x, y):
    h = torch.relu(torch.addmm(b1, x, W1))
    h = torch.relu(torch.addmm(b2, h, W2))
    return torch.nn.functional.cross_entropy(torch.addmm(b3, h, W3), y)


torch_steps.serve(loss_of, sizes, x, y, parameters)
