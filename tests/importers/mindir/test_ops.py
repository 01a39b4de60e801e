"""Compares each primitive with MindSpore's result on the CPU, and counts the primitives that are covered."""

import tempfile
import unittest

from mind import MindTest, flat, load_module, read_model
import op_cases_mint  # noqa: F401
from op_cases import CASES

HEADER = """import mindspore as ms
from mindspore import mint, nn, ops
from mindspore.ops import auto_generate as G
from mindspore.ops import operations as P

"""


def network(name, constructor, call, inputs):
    init = f"    def __init__(self):\n        super().__init__()\n        self.op = {constructor}\n\n" if constructor else ""
    body = call.replace("op(", "self.op(") if constructor else call
    return f"class {name}(nn.Cell):\n{init}    def construct(self, {', '.join(inputs)}):\n        return {body}\n\n"


# MindSpore computes the weights of cubic interpolation from a table.
TOLERANCES = {"ResizeBicubic": {"rtol": 5e-3, "atol": 5e-3}}


def class_name(primitive, i):
    return f"{primitive}Case{i}"


class Ops(MindTest):
    @classmethod
    def setUpClass(cls):
        cls.sources = tempfile.TemporaryDirectory()
        text = HEADER
        for primitive, cases in CASES.items():
            for i, (constructor, call, inputs, _) in enumerate(cases):
                text += network(class_name(primitive, i), constructor, call, inputs)
        cls.module = load_module(text, cls.sources.name)

    @classmethod
    def tearDownClass(cls):
        cls.sources.cleanup()

    def check_primitive(self, primitive):
        for i, (constructor, call, inputs, want) in enumerate(CASES[primitive]):
            with self.subTest(constructor=constructor, call=call, shapes=[x.shape for x in inputs.values()]):
                wanted = flat(want(*inputs.values())) if want else None
                net = getattr(self.module, class_name(primitive, i))()
                path = self.check(net, list(inputs.values()), wanted=wanted, **TOLERANCES.get(primitive, {"atol": 1e-4}))
                self.assertIn(primitive, [p.op_type for p in read_model(path).primitives])

    def test_count(self):
        self.assertGreaterEqual(len(CASES), 120)


for _primitive in CASES:
    setattr(Ops, f"test_{_primitive}", lambda self, primitive=_primitive: self.check_primitive(primitive))


if __name__ == "__main__":
    unittest.main()
