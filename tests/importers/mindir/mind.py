"""Exports networks with MindSpore, runs them with Tern, and compares the results."""

import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

os.environ.setdefault("GLOG_v", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore.train import mind_ir_pb2  # noqa: E402
from run_model import run_model  # noqa: E402

ms.set_device("CPU")


def flat(result):
    """Returns the tensors of a result, which may be nested tuples, as arrays."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in flat(part)]
    return [result.asnumpy() if isinstance(result, ms.Tensor) else np.asarray(result)]


def tensors(inputs):
    return [ms.Tensor(x) if isinstance(x, np.ndarray) else x for x in inputs]


def read_model(path):
    model = mind_ir_pb2.ModelProto()
    model.ParseFromString(pathlib.Path(path).read_bytes())
    return model


def export(net, inputs, folder, name="model"):
    """Writes FOLDER/NAME.mindir. Returns its path."""
    net.set_train(False)
    path = pathlib.Path(folder, name + ".mindir")
    ms.export(net, *inputs, file_name=str(path.with_suffix("")), file_format="MINDIR")
    path.chmod(0o644)
    return path


def input_names(path):
    return [i.name.split(":", 1)[1] for i in read_model(path).graph.input]


def load_module(text, folder):
    """Imports Python source. MindSpore compiles the source of a network, so it must be in a file."""
    path = pathlib.Path(folder, "generated_networks.py")
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("generated_networks", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["generated_networks"] = module
    spec.loader.exec_module(module)
    return module


class MindTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # MindSpore writes files about errors to the working folder.
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(self.folder)

    def compare(self, got, wanted, rtol=1e-3, atol=1e-5):
        self.assertEqual(len(got), len(wanted))
        for i, (name, array) in enumerate(got.items()):
            self.assertEqual(array.shape, wanted[i].shape, name)
            if wanted[i].dtype.kind == "f":
                # Floats are compared in float64, whatever their types are.
                np.testing.assert_allclose(array.astype(np.float64), wanted[i].astype(np.float64), rtol=rtol, atol=atol, err_msg=name)
            else:
                self.assertEqual(array.dtype, wanted[i].dtype, name)
                np.testing.assert_array_equal(array, wanted[i], err_msg=name)

    def check(self, net, inputs, declared=None, rtol=1e-3, atol=1e-5, wanted=None):
        """Compares Tern with MindSpore, or with `wanted`. The model is exported with `declared` if given, else with `inputs`."""
        arrays = [x for x in inputs if isinstance(x, np.ndarray)]
        net.set_train(False)
        path = export(net, declared or tensors(inputs), self.folder)
        if wanted is None:
            wanted = flat(net(*tensors(inputs)))
        names = input_names(path)
        self.assertEqual(len(names), len(arrays))
        got = run_model(path, dict(zip(names, arrays)))
        self.compare(got, wanted, rtol, atol)
        return path
