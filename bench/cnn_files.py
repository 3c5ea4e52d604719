"""The spec and the points of a small CNN, as files that dync and its peers read."""
import dataclasses
import json
import pathlib

SPEC = """\
# Two convolutions of 3 by 3 on {side} by {side} images, relu and 2 by 2 max pooling after each, a dense layer; batch {batch} in
# file order, AdamW, f32.

data points = csv("points.csv") {{
  x: [1, {side}, {side}]     = reshape(columns[0:{pixels}]/16, [1, {side}, {side}])
  label: class({classes}) = columns[{pixels}]
}}

fn waves(n: int, scale: real) -> [n] = scale*sin(1 + arange(n))

model cnn()(x: [c, h, w]) -> [{classes}] {{
  param W1: [{channels}, 1, 3, 3] = reshape(waves(9*{channels}, 0.3), [{channels}, 1, 3, 3])
  param b1: [{channels}] = 0
  param W2: [{channels2}, {channels}, 3, 3] = reshape(waves({weights2}, 0.06), [{channels2}, {channels}, 3, 3])
  param b2: [{channels2}] = 0
  param W3: [{classes}, {features}] = reshape(waves({weights3}, 0.02), [{classes}, {features}])
  param b3: [{classes}] = 0
  a = max_pool(relu(add_bias(convolve(x, W1, padding=1), b1)))
  b = max_pool(relu(add_bias(convolve(a, W2, padding=1), b2)))
  return W3 @ flatten(b) + b3
}}

train cnn_steps(length: int = 20) {{
  data      points batch {batch} drop
  model     net = cnn()
  loss      cross_entropy(net(x), label)
  optimizer adamw(lr=1e-4, weight_decay=0.01)
  steps     length
}}
"""


@dataclasses.dataclass
class Cnn:
    side: int = 28
    channels: int = 32
    classes: int = 10
    batch: int = 64
    batches: int = 4

    @property
    def name(self):
        return f"{self.side}x{self.side}-conv{self.channels}-conv{2 * self.channels}-{self.classes}"

    @property
    def shapes(self):
        """W1, W2, W3, and the scale of each."""
        c, side = self.channels, self.side // 4
        return [((c, 1, 3, 3), 0.3), ((2 * c, c, 3, 3), 0.06), ((self.classes, 2 * c * side * side), 0.02)]

    @property
    def flops(self):
        """Of the products of a step: one forward, two backward but for the first layer, whose input needs none."""
        c, pixels = self.channels, self.side**2
        first, second = pixels * 9 * c, pixels // 4 * 9 * 2 * c * c
        dense = self.classes * 2 * c * pixels // 16
        return 2 * self.batch * (2 * first + 3 * second + 3 * dense)

    def write(self, folder):
        folder = pathlib.Path(folder)
        features = 2 * self.channels * (self.side // 4) ** 2
        (folder / "steps.dyn").write_text(SPEC.format(
            pixels=self.side**2, channels2=2 * self.channels, features=features, weights2=18 * self.channels**2,
            weights3=self.classes * features, **vars(self)))
        (folder / "sizes.json").write_text(json.dumps(vars(self)))
        with open(folder / "points.csv", "w") as file:
            for i in range(self.batch * self.batches):
                row = [(7 * i + (i * i + 3 * j) % 13 * j) % 17 for j in range(self.side**2)]
                file.write(",".join(map(str, row + [(i * i + i) % self.classes])) + "\n")


def read(folder):
    """Sizes, images, labels and the six first parameters, as numpy arrays."""
    import numpy

    folder = pathlib.Path(folder)
    sizes = Cnn(**json.loads((folder / "sizes.json").read_text()))
    table = numpy.loadtxt(folder / "points.csv", delimiter=",", dtype=numpy.float32)
    parameters = []
    for shape, scale in sizes.shapes:
        count = int(numpy.prod(shape))
        parameters += [(scale * numpy.sin(1 + numpy.arange(count))).astype(numpy.float32).reshape(shape),
                       numpy.zeros(shape[0], numpy.float32)]
    images = table[:, :-1].reshape(-1, 1, sizes.side, sizes.side) / 16
    return sizes, images, table[:, -1].astype(numpy.int64), parameters
