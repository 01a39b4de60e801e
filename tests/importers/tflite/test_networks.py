"""Keras networks with random weights, converted in four ways, against LiteRT.

Networks of random weights amplify every rounding error, and LiteRT's reference kernels round otherwise than its fast ones. A result with quantized
activations is right if it is as close to one of them as they are to each other. With dynamic ranges, a number that is rounded to the other neighbour
changes the scores by some percent.
"""

import json
import unittest

import numpy as np
from lite import difference, interpreter, names_of, random_input, run_lite
from networks import MODES, NETWORKS, path_of
from run_model import run_model, tern

PRODUCTS = ("QConv", "QMatMul", "Conv", "MatMul")


class Networks(unittest.TestCase):
    def compare(self, name, mode):
        model = path_of(name, mode)
        reference, fast = interpreter(model), interpreter(model, reference=False)
        rng = np.random.default_rng(0)
        arrays = [random_input(d, rng) for d in reference.get_input_details()]
        inputs, outputs = names_of(reference)
        got = run_model(model, dict(zip(inputs, arrays)))
        for output, a, b in zip(outputs, run_lite(reference, arrays), run_lite(fast, arrays)):
            least = min(difference(got[output], a), difference(got[output], b))
            allowed = (0.05 if mode == "dynamic" else 2e-3) if a.dtype.kind == "f" else 1
            if mode in ("dynamic", "int8"):
                allowed = max(allowed, difference(a, b))
            self.assertLessEqual(least, allowed, f"{name} {mode} {output}")
        if mode == "int8":
            self.check_kernels(model)

    def check_kernels(self, model):
        """Convolutions and products with weights compute with integers. There is no integer kernel for two computed operands."""
        layers = json.loads(tern("inspect", model, "--level", "layout", "--json"))["layers"]
        layers = [layer for layer in layers if "BATCH_MATMUL" not in layer.get("origin", "")]
        slow = [layer["name"] for layer in layers
                if "reference" in layer.get("kernel", "") or (layer["op"] in PRODUCTS and ".i8" not in layer.get("kernel", ""))]
        self.assertEqual(slow, [], "nodes without an integer kernel")


def add_tests():
    for name in NETWORKS:
        for mode in MODES:
            setattr(Networks, f"test_{name}_{mode}", lambda self, n=name, m=mode: self.compare(n, m))


add_tests()

if __name__ == "__main__":
    unittest.main()
