"""Prints what a record of test/reference holds of the Rosenbrock problem as C arrays."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    record = json.load(file)
problem = record["problems"]["rosenbrock"]


def array(name, values):
    print(f"static const double {name}[] = {{{', '.join(repr(float(value)) for value in values)}}};")


array("recorded_loss", problem["loss"])
array("recorded_x", problem["params"]["x"])
print(f"static const double recorded_lr = {problem['hyperparameters']['lr']!r};")
print(f"static const double recorded_decay = {record['hyperparameters']['weight_decay']!r};")
