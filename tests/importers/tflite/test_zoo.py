"""Published models, against LiteRT. TERN_ZOO names a folder with models/tflite."""

import os
import pathlib
import unittest

import numpy as np
from lite import difference, interpreter, names_of, random_input, run_lite
from run_model import run_model

ZOO = pathlib.Path(os.environ.get("TERN_ZOO", "/nowhere")) / "models" / "tflite"


class Zoo(unittest.TestCase):
    def compare(self, model):
        try:
            reference, fast = interpreter(model), interpreter(model, reference=False)
            reference.allocate_tensors()
        except (ValueError, RuntimeError):
            self.assertTrue(run_model(model, {}, "--random", "1"))  # a model that LiteRT refuses, but Tern reads
            return
        rng = np.random.default_rng(0)
        arrays = [random_input(d, rng) for d in reference.get_input_details()]
        inputs, outputs = names_of(reference)
        got = run_model(model, dict(zip(inputs, arrays)))
        for name, a, b in zip(outputs, run_lite(reference, arrays), run_lite(fast, arrays)):
            quantized = a.dtype.kind != "f"
            allowed = max(1, 2 * difference(a, b)) if quantized else 1e-3
            self.assertLessEqual(min(difference(got[name], a), difference(got[name], b)), allowed, f"{model.name} {name}")
            if a.dtype.itemsize == 1:
                self.assertGreater(np.mean(np.abs(got[name].astype(int) - b.astype(int)) <= 1), 0.97, f"{model.name} {name}")


def add_tests():
    for model in sorted(ZOO.glob("*.tflite")):
        setattr(Zoo, f"test_{model.stem}", lambda self, m=model: self.compare(m))


add_tests()

if __name__ == "__main__":
    unittest.main()
