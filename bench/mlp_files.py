"""The spec and the points of an MLP of given sizes, as files that dync and its peers read."""
import dataclasses
import json
import pathlib

SPEC = """\
# {inputs}-{hidden}-{hidden}-{classes}, relu, batch {batch} in file order, f32.

data points = csv("points.csv") {{
  x: [{inputs}]             = columns[0:{inputs}]/16
  label: class({classes}) = columns[{inputs}]
}}

model three()(x: [{inputs}]) -> [{classes}] {{
  param W1: [{inputs}, {hidden}] = [[0.05*sin(1 + {hidden}*i + j) for j in 0..{hidden}] for i in 0..{inputs}]
  param b1: [{hidden}] = 0
  param W2: [{hidden}, {hidden}] = [[0.05*sin(2 + {hidden}*i + j) for j in 0..{hidden}] for i in 0..{hidden}]
  param b2: [{hidden}] = 0
  param W3: [{hidden}, {classes}] = [[0.05*sin(3 + {classes}*i + j) for j in 0..{classes}] for i in 0..{hidden}]
  param b3: [{classes}] = 0
  return relu(relu(x @ W1 + b1) @ W2 + b2) @ W3 + b3
}}

train mlp(length: int = 100) {{
  data      points batch {batch} drop
  model     net = three()
  loss      cross_entropy(net(x), label)
  optimizer {rule}
  steps     length
}}

{declarations}"""


@dataclasses.dataclass
class Mlp:
    inputs: int
    hidden: int
    classes: int
    batch: int
    batches: int = 4
    rule: str = "adamw(lr=1e-4, weight_decay=0.01)"
    declarations: str = ""  # what `rule` needs beside the library

    @property
    def name(self):
        return f"{self.inputs}-{self.hidden}-{self.hidden}-{self.classes}"

    @property
    def flops(self):
        """Of the products of a step: one forward, two backward but for the first layer, whose input needs none."""
        weights = self.inputs * self.hidden + self.hidden**2 + self.hidden * self.classes
        return 2 * self.batch * (3 * weights - self.inputs * self.hidden)

    def write(self, folder):
        folder = pathlib.Path(folder)
        (folder / "steps.dyn").write_text(SPEC.format(**vars(self)))
        (folder / "sizes.json").write_text(json.dumps(vars(self)))
        with open(folder / "points.csv", "w") as file:
            for i in range(self.batch * self.batches):
                row = [(7 * i + (i * i + 3 * j) % 13 * j) % 17 for j in range(self.inputs)]
                file.write(",".join(map(str, row + [(i * i + i) % self.classes])) + "\n")


def read(folder):
    """Sizes, points, labels and the six first parameters, as numpy arrays."""
    import numpy

    folder = pathlib.Path(folder)
    sizes = Mlp(**json.loads((folder / "sizes.json").read_text()))
    table = numpy.loadtxt(folder / "points.csv", delimiter=",", dtype=numpy.float32)
    parameters = []
    for k, (rows, columns) in enumerate([(sizes.inputs, sizes.hidden), (sizes.hidden, sizes.hidden), (sizes.hidden, sizes.classes)]):
        at = numpy.arange(rows, dtype=numpy.float64)[:, None] * columns + numpy.arange(columns)
        parameters += [(0.05 * numpy.sin(k + 1 + at)).astype(numpy.float32), numpy.zeros(columns, numpy.float32)]
    return sizes, table[:, :-1] / 16, table[:, -1].astype(numpy.int64), parameters
