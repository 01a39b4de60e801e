"""Runs the stored models of other frameworks and compares with the stored results of these frameworks.

A sample is a folder tests/importers/FORMAT/samples/NAME with
- the model: a file or folder `model`, with any extension;
- `weights` with any extension, if the format keeps the weights in a file of their own;
- data.npz with the arrays `in.NAME` and `out.NAME`, one per input and output;
- optionally options.json: {"args": further arguments of `tern run`, "rtol": number, "atol": number}.
"""

import json
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_model import run_model  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def one(folder, stem):
    found = sorted(folder.glob(f"{stem}.*")) + sorted(folder.glob(stem))
    return found[0] if found else None


class Samples(unittest.TestCase):
    def test_every_format_has_samples(self):
        for requirements in HERE.glob("*/requirements.txt"):
            self.assertTrue(list(requirements.parent.glob("samples/*/data.npz")), f"{requirements.parent.name} has no stored models")

    def check(self, folder):
        options_file = folder / "options.json"
        options = json.loads(options_file.read_text()) if options_file.exists() else {}
        data = np.load(folder / "data.npz")
        inputs = {key[3:]: data[key] for key in data.files if key.startswith("in.")}
        wanted = {key[4:]: data[key] for key in data.files if key.startswith("out.")}
        self.assertTrue(wanted, f"{folder} has no outputs")
        weights = one(folder, "weights")
        args = options.get("args", []) + (["--weights", str(weights)] if weights else [])
        got = run_model(one(folder, "model"), inputs, *args)
        self.assertEqual(sorted(got), sorted(wanted))
        for name, array in wanted.items():
            self.assertEqual(got[name].shape, array.shape, name)
            if array.dtype.kind in "fc":
                np.testing.assert_allclose(got[name], array, rtol=options.get("rtol", 1e-3), atol=options.get("atol", 1e-5), err_msg=name)
            else:
                np.testing.assert_array_equal(got[name], array, err_msg=name)


def add_tests():
    for folder in sorted(HERE.glob("*/samples/*")):
        name = f"test_{folder.parents[1].name}_{folder.name}"
        setattr(Samples, name, lambda self, folder=folder: self.check(folder))


add_tests()
