"""Draws random values for hostile models, such as numbers close to the limits of int32 and int64."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SMALL = [1, 1, 2, 3]
LARGE = [7, 100, 65537, 2**20, 2**30, 2**31 - 1]
BEYOND = [0, -1, -7, 2**31, 2**32 + 1, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63)]


def _held(value):
    """Returns the value. Clamps integers to the range of int64, because attributes are int64."""
    if isinstance(value, list):
        return [_held(v) for v in value]
    return min(max(value, -(2**63)), 2**63 - 1) if isinstance(value, int) else value


class Draw:
    def __init__(self, op, seed):
        self.rng = np.random.default_rng([seed, *op.encode()])
        self.nodes, self.inputs, self.constants = [], [], []

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def number(self, wild=0.1, small=0.6):
        """Returns a number of BEYOND with probability `wild`, and otherwise a number of SMALL (with probability
        `small`) or LARGE."""
        if self.chance(wild):
            return self.pick(BEYOND)
        return self.pick(SMALL) if self.chance(small) else self.pick(LARGE)

    def list(self, count, wild=0.03, small=0.6):
        if self.chance(0.02):
            count += self.pick([-1, 1])
        return [self.number(wild / max(1, count), small) for _ in range(max(0, count))]

    def dims(self, rank, most=9, empty=0.06):
        return [0 if self.chance(empty) else self.int(1, most) for _ in range(rank)]

    def input(self, dims, dtype=TensorProto.FLOAT):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, dtype, dims))
        return name

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, dims):
        if 0 in dims:  # numpy cannot represent dims such as [0, 2**62]
            self.constants.append(TensorProto(name=f"c{len(self.constants)}", data_type=TensorProto.FLOAT, dims=dims, raw_data=b""))
            return self.constants[-1].name
        return self.constant(self.rng.uniform(-1, 1, dims).astype(np.float32))

    def ints(self, numbers):
        return self.constant(np.asarray(numbers, np.int64))

    def node(self, op, inputs, outputs=1, **attrs):
        names = [f"y{len(self.nodes)}_{i}" for i in range(outputs)]
        kept = {k: _held(v) for k, v in attrs.items() if v is not None and v != []}
        self.nodes.append(helper.make_node(op, inputs, names, **kept))
        return names[0] if outputs == 1 else names

    def image(self, channels, sizes):
        """Returns the name of an image value. It is mostly the output of a convolution, so that the following ops run
        channels-last."""
        batch = self.pick([0, 1, 1, 1, 2, 3])
        if self.chance(0.2):
            return self.input([batch, channels, *sizes])
        x = self.input([batch, 20, *sizes])
        width = 1 if 0 in sizes else 3
        rank = len(sizes)
        return self.node("Conv", [x, self.floats([channels, 20] + [width] * rank)], pads=[width // 2] * (2 * rank))

    def after(self, x, channels, rank):
        """Mostly adds a convolution of x and returns its output. Otherwise returns x."""
        if self.chance(0.3):
            return x
        return self.node("Conv", [x, self.floats([40, channels] + [1] * rank)])

    def model(self, outputs):
        outs = [outputs] if isinstance(outputs, str) else outputs
        infos = [helper.make_empty_tensor_value_info(name) for name in outs]
        graph = helper.make_graph(self.nodes, "hostile", self.inputs, infos, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
