"""An MLP in JAX: a scan over steps inside one jit. Reads a line from stdin, answers with one.

    mlp_jax.py FOLDER STEPS       FOLDER as bench/mlp_files.py writes it

    round      times one scan of STEPS steps, prints seconds a step
    losses     prints the losses of the first STEPS steps
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import jax_steps
import mlp_files
from mlp_loss import loss_of

sizes, x, y, parameters = jax_steps.open_points(mlp_files.read)
jax_steps.serve(jax_steps.scanned(loss_of, sizes, x, y), parameters)
