"""The spec and the tokens of a small transformer, as files that dync and its peers read."""
import dataclasses
import json
import pathlib

SPEC = """\
# {blocks} blocks of width {width} with {heads} heads and a causal mask, gelu, context {context}; batch {batch} in file order,
# AdamW, f32.

data rows = csv("points.csv") {{
  tokens: class({vocabulary})[{context}] = columns[0:{context}]
  next: class({vocabulary})[{context}] = columns[{context}:{columns}]
}}

fn waves(n: int, m: int, scale: real, phase: real) -> [n, m] = reshape(scale*sin(phase + arange(n*m)), [n, m])

fn normalized(x: [t, n]) -> [t, n] {{
  z = x - mean(x, axis=1)[:, new]
  return z/sqrt(mean(z^2, axis=1) + 1e-5)[:, new]
}}

model block()(x: [t, n]) -> [t, n] {{
  param Q: [n, n] = waves(n, n, 0.1, 1.0)
  param K: [n, n] = waves(n, n, 0.1, 2.0)
  param V: [n, n] = waves(n, n, 0.1, 3.0)
  param O: [n, n] = waves(n, n, 0.1, 4.0)
  param W: [n, 4*n] = waves(n, 4*n, 0.1, 5.0)
  param b: [4*n] = 0
  param U: [4*n, n] = waves(4*n, n, 0.05, 6.0)
  param c: [n] = 0
  d = n // {heads}
  z = normalized(x)
  q = z @ Q
  k = z @ K
  v = z @ V
  seen = arange(t)[:, new] >= arange(t)[new, :]
  H = zeros([t, n])
  for i in 0..{heads} {{
    score = q[:, i*d:(i + 1)*d] @ k[:, i*d:(i + 1)*d].T/sqrt(d)
    H[:, i*d:(i + 1)*d] = softmax(where(seen, score, -inf), axis=1) @ v[:, i*d:(i + 1)*d]
  }}
  h = x + H @ O
  return h + gelu(normalized(h) @ W + b[new, :]) @ U + c[new, :]
}}

model writer()(tokens: class({vocabulary})[t]) -> [t, {vocabulary}] {{
  param E: [{vocabulary}, {width}] = waves({vocabulary}, {width}, 0.1, 7.0)
  param P: [{context}, {width}] = waves({context}, {width}, 0.1, 8.0)
  x = E[tokens] + P
  for _ in 0..{blocks} {{
    x = block()(x)
  }}
  param W: [{width}, {vocabulary}] = waves({width}, {vocabulary}, 0.1, 9.0)
  return normalized(x) @ W
}}

fn nats(z: [t, k], next: class(k)[t]) -> real = mean(logsumexp(z, axis=1) - z[pairs(arange(t), next)])

train transformer_steps(length: int = 10) {{
  data      rows batch {batch} drop
  model     net = writer()
  loss      nats(net(tokens), next)
  optimizer adamw(lr=1e-4, weight_decay=0.01)
  steps     length
}}
"""


@dataclasses.dataclass
class Transformer:
    blocks: int = 2
    width: int = 64
    heads: int = 4
    context: int = 64
    batch: int = 16
    vocabulary: int = 256
    batches: int = 4

    @property
    def name(self):
        return f"{self.blocks} blocks of {self.width}, context {self.context}"

    @property
    def flops(self):
        """Of the products of a step: one forward, two backward. Attention counts whole, though half of it is masked."""
        tokens, n = self.batch * self.context, self.width
        block = 12 * n * n + 2 * self.context * n
        return 6 * tokens * (self.blocks * block + n * self.vocabulary)

    @property
    def shapes(self):
        """Of each parameter, in the order of the spec: shape, scale and phase; a scale of 0 for biases."""
        n = self.width
        block = [((n, n), 0.1, 1), ((n, n), 0.1, 2), ((n, n), 0.1, 3), ((n, n), 0.1, 4), ((n, 4 * n), 0.1, 5), ((4 * n,), 0, 0),
                 ((4 * n, n), 0.05, 6), ((n,), 0, 0)]
        ends = [((self.vocabulary, n), 0.1, 7), ((self.context, n), 0.1, 8)], [((n, self.vocabulary), 0.1, 9)]
        return ends[0] + self.blocks * block + ends[1]

    def write(self, folder):
        folder = pathlib.Path(folder)
        (folder / "steps.dyn").write_text(SPEC.format(columns=2 * self.context, **vars(self)))
        (folder / "sizes.json").write_text(json.dumps(vars(self)))
        with open(folder / "points.csv", "w") as file:
            for i in range(self.batch * self.batches):
                row = [(7 * i + j * j + 3 * i * j) % 251 % self.vocabulary for j in range(self.context + 1)]
                file.write(",".join(map(str, row[:-1] + row[1:])) + "\n")


def read(folder):
    """Sizes, tokens, next tokens and the first parameters, as numpy arrays."""
    import numpy

    folder = pathlib.Path(folder)
    sizes = Transformer(**json.loads((folder / "sizes.json").read_text()))
    table = numpy.loadtxt(folder / "points.csv", delimiter=",", dtype=numpy.int64)
    parameters = []
    for shape, scale, phase in sizes.shapes:
        count = int(numpy.prod(shape))
        parameters.append((scale * numpy.sin(phase + numpy.arange(count))).astype(numpy.float32).reshape(shape))
    return sizes, table[:, : sizes.context], table[:, sizes.context :], parameters
