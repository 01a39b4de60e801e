"""Tests bench/threads with small networks and the real tern binary."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import onnx  # noqa: E402
import random_onnx  # noqa: E402


def script():
    loader = importlib.machinery.SourceFileLoader("bench_threads", str(ROOT / "bench" / "threads"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def small(path, batch):
    random_onnx.bert_base(path, batch, length=8, width=24, layers=1, heads=2, vocabulary=1000)


class Networks(unittest.TestCase):
    def test_valid_and_repeatable(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(random_onnx.BUILDERS, small=small):
            entry = random_onnx.make("small", 2, folder)
            path = pathlib.Path(folder) / entry["file"]
            first = path.read_bytes()
            onnx.checker.check_model(onnx.load(str(path)), full_check=True)
            path.unlink()
            random_onnx.make("small", 2, folder)
            self.assertEqual(path.read_bytes(), first)
        self.assertEqual(entry["inputs"][0]["dims"], [2, 8])
        self.assertEqual(entry["inputs"][0]["kind"], "ids")


class Script(unittest.TestCase):
    def test_table_and_report(self):
        module = script()
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(random_onnx.BUILDERS, small=small):
            report, text = pathlib.Path(folder) / "report.json", io.StringIO()
            arguments = ["threads", "--threads", "2", "--networks", "small:1", "--rounds", "1", "--seconds", "0.01", "--no-ort", "--steps", "3",
                         "--cache", folder, "--json", str(report)]
            with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(text):
                self.assertEqual(module.main(), 0)
            found = json.loads(report.read_text())
        self.assertEqual(set(found["networks"]["small:1"]), {"tern 1", "tern 2"})
        self.assertGreater(found["networks"]["small:1"]["tern 2"]["ms"], 0)
        self.assertIn("% loop", text.getvalue())
        self.assertIn("MatMul", text.getvalue())

    def test_unknown_network(self):
        module = script()
        with mock.patch.object(sys, "argv", ["threads", "--networks", "nothing"]), contextlib.redirect_stderr(io.StringIO()) as text:
            with self.assertRaises(SystemExit):
                module.main()
        self.assertIn("'nothing' is not one of resnet50", text.getvalue())


if __name__ == "__main__":
    unittest.main()
