"""Converts the stored models to .tern and to .onnx. Tern runs both files and onnxruntime the second; all give the stored results."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run_model import TernError, run_model, tern  # noqa: E402
from sample import Sample, add_tests, samples  # noqa: E402


# The states of a session become inputs and outputs of an ONNX model. They start as zeros of these dims and types.
STATES = {
    "tflite_lstm": {"inputs": {"h": np.zeros((1, 4), np.float32), "c": np.zeros((1, 4), np.float32)}, "outputs": ["v", "v_1"]},
    "tflite_variable": {"inputs": {"variable sum": np.zeros(2, np.float32), "variables_are_initialized": np.zeros((), np.uint8)},
                        "outputs": ["variable sum after the run", "variables_are_initialized after the run"]},
}
# A traced or scripted module declares no shapes; the conversion of an index by a mask needs the rank.
SHAPES = {"torchscript_nms_scripted": ["--shape", "boxes=f32[4,4]", "--shape", "scores=f32[4]"]}
# What standard ONNX cannot express, with the message of the conversion.
NOT_ONNX = {"caffe_detector": r"node 'found' \(DetectionOutput, .*no ONNX form of this op is known"}


def run_onnxruntime(path, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


class Conversions(unittest.TestCase):
    def test_every_exception_names_a_sample(self):
        self.assertEqual((set(STATES) | set(SHAPES) | set(NOT_ONNX)) - {Sample(folder).name for folder in samples()}, set())

    def check(self, sample):
        arguments = [sample.model, *sample.args, *SHAPES.get(sample.name, [])]
        with tempfile.TemporaryDirectory() as folder:
            native = pathlib.Path(folder, "model.tern")
            tern("convert", *arguments, "-o", native)
            sample.compare(self, run_model(native, sample.inputs))
            standard = pathlib.Path(folder, "model.onnx")
            if sample.name in NOT_ONNX:
                with self.assertRaisesRegex(TernError, NOT_ONNX[sample.name]):
                    tern("convert", *arguments, "-o", standard)
                return
            tern("convert", *arguments, "-o", standard)
            states = STATES.get(sample.name, {"inputs": {}, "outputs": []})
            for run in (run_model, run_onnxruntime):
                with self.subTest(run=run.__name__):
                    got = run(standard, sample.inputs | states["inputs"])
                    for name in states["outputs"]:
                        del got[name]
                    sample.compare(self, got)


add_tests(Conversions)
