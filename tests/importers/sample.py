"""The stored models of other frameworks with the stored results of these frameworks.

A sample is a folder tests/importers/FORMAT/samples/NAME with
- the model: a file or folder `model`, with any extension;
- `weights` with any extension, if the format keeps the weights in a file of their own;
- data.npz with the arrays `in.NAME` and `out.NAME`, one per input and output;
- optionally options.json: {"args": further arguments of `tern run`, "rtol": number, "atol": number}.
"""

import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def one(folder, stem):
    found = sorted(folder.glob(f"{stem}.*")) + sorted(folder.glob(stem))
    return found[0] if found else None


class Sample:
    """One stored model: its files, inputs, wanted outputs and options."""

    def __init__(self, folder):
        self.name = f"{folder.parents[1].name}_{folder.name}"
        options_file = folder / "options.json"
        self.options = json.loads(options_file.read_text()) if options_file.exists() else {}
        data = np.load(folder / "data.npz")
        self.inputs = {key[3:]: data[key] for key in data.files if key.startswith("in.")}
        self.wanted = {key[4:]: data[key] for key in data.files if key.startswith("out.")}
        self.model = one(folder, "model")
        weights = one(folder, "weights")
        self.args = self.options.get("args", []) + (["--weights", str(weights)] if weights else [])

    def compare(self, test, got):
        """Fails unless `got` has the names, dims and values of the stored outputs."""
        test.assertTrue(self.wanted, f"{self.name} has no outputs")
        test.assertEqual(sorted(got), sorted(self.wanted))
        for name, array in self.wanted.items():
            test.assertEqual(got[name].shape, array.shape, name)
            if array.dtype.kind in "fc":
                rtol, atol = self.options.get("rtol", 1e-3), self.options.get("atol", 1e-5)
                np.testing.assert_allclose(got[name], array, rtol=rtol, atol=atol, err_msg=name)
            else:
                np.testing.assert_array_equal(got[name], array, err_msg=name)


def samples():
    return [folder for folder in sorted(HERE.glob("*/samples/*")) if folder.is_dir()]


def add_tests(cls):
    """Adds one test per sample, which calls `check` of the class with the sample."""
    for folder in samples():
        name = f"test_{folder.parents[1].name}_{folder.name}"
        setattr(cls, name, lambda self, folder=folder: self.check(Sample(folder)))
