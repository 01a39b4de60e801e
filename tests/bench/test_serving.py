"""Tests the parts of bench/serving that need no server."""

import json
import os
import pathlib
import struct
import sys
import tempfile
import unittest

from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "serving"))

import agreement  # noqa: E402
import clients  # noqa: E402
import modes  # noqa: E402
import open_batch  # noqa: E402
import processes  # noqa: E402
import soak  # noqa: E402
import wire  # noqa: E402

ONE = struct.pack("<f", 1.0)


class Wire(unittest.TestCase):
    def test_http_body_is_a_json_head_and_the_tensor(self):
        body, headers = wire.http_body(ONE * 3)
        size = int(headers["Inference-Header-Content-Length"])
        head = json.loads(body[:size])
        self.assertEqual(body[size:], ONE * 3)
        self.assertEqual(head["inputs"][0]["shape"], [3])
        self.assertEqual(head["inputs"][0]["parameters"]["binary_data_size"], 12)

    def test_grpc_frame_has_the_length_of_its_message(self):
        frame = wire.grpc_frame("identity", ONE * 300)
        self.assertEqual(frame[0], 0)
        self.assertEqual(struct.unpack(">I", frame[1:5])[0], len(frame) - 5)
        self.assertTrue(frame[5:].startswith(b"\x0a\x08identity"))  # field 1: the model's name
        self.assertTrue(frame.endswith(b"\x3a\xb0\x09" + ONE * 300))  # field 7: 1200 bytes
        self.assertIn(b"\x1a\x02\xac\x02", frame)  # field 3 of the input: dims [300]

    def test_lua_script_escapes_all_bytes(self):
        script = wire.lua_script("identity", b"\0\n\"\xff")
        self.assertIn("\\000\\010\\034\\255", script)
        self.assertIn("/v2/models/identity/infer", script)


class Figures(unittest.TestCase):
    def test_a_ratio_is_the_median_of_the_ratios_of_rounds(self):
        ours = [{"throughput": value} for value in (10, 40, 30)]
        theirs = [{"throughput": value} for value in (10, 10, 15)]
        self.assertEqual(clients.median_ratio(ours, theirs), 2)

    def test_memory_growth_ignores_the_first_third(self):
        self.assertEqual(soak.growth([20, 25, 30, 30, 30, 30, 30, 31, 30]), 0)
        self.assertAlmostEqual(soak.growth([30, 30, 30, 30, 30, 30, 33, 33, 33]), 0.1)

    def test_processor_time_grows(self):
        before = processes.cpu_seconds(os.getpid())
        while processes.cpu_seconds(os.getpid()) < before + 0.03:
            pass
        self.assertGreater(processes.resident_mb(os.getpid()), 1)


class Agreement(unittest.TestCase):
    ROW = {"perf_analyzer": 100.0, "perf_analyzer_p50_ms": 4.0, "served": 1.0}

    def test_ratios_are_relative_to_perf_analyzer(self):
        rows = [{**self.ROW, "tern_load": rate, "tern_load_p50_ms": 5.0} for rate in (90, 100, 50)]
        self.assertEqual(agreement.compare(rows), {"served": 1, "tern_load": 0.9, "tern_load_p50_ms": 1.25})
        self.assertEqual(agreement.compare([self.ROW]), {"served": 1})

    def test_figures_agree_within_five_percent(self):
        closed, rate = (modes.Mode("", "http", "identity", (), ours) for ours in (("--concurrency", 4), ("--rate", 2000)))
        for served, throughput, p50, errors, expected in ((1, 0.96, 1.04, 0, (True, True)), (1, 1, 1.06, 0, (False, True)),
                                                          (0.9, 1, 1, 0, (False, False)), (1, 0.94, 1, 0, (False, False)),
                                                          (1, 1, 1, 3, (False, False))):
            ratios = {"served": served, "tern_load": throughput, "tern_load_p50_ms": p50}
            self.assertEqual(tuple(agreement.agrees(mode, [{"errors": errors}], ratios) for mode in (closed, rate)), expected)

    def test_modes_have_their_own_names_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            found = modes.all_modes(pathlib.Path(folder), 4)
            files = [word for mode in found for word in mode.theirs if isinstance(word, pathlib.Path)]
            self.assertEqual([file for file in files if not file.exists()], [])
        self.assertEqual(len({(mode.protocol, mode.name) for mode in found}), len(found))

    def test_a_program_that_fails_is_named(self):
        with self.assertRaisesRegex(clients.Failed, "false"):
            clients._output(["false"])  # pylint: disable=protected-access


class OpenBatch(unittest.TestCase):
    def test_inputs_outputs_and_reshapes_are_opened(self):
        shape = helper.make_tensor("shape", TensorProto.INT64, [2], [1, 6])
        other = helper.make_tensor("other", TensorProto.INT64, [2], [6, 1])
        nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"]), helper.make_node("Reshape", ["y", "other"], ["z"])]
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", [1, 2, 3]), ("y", [1, 6]))]
        model = helper.make_model(helper.make_graph(nodes, "g", values[:1], values[1:], [shape, other]))
        open_batch.open_batch(model)
        self.assertEqual([value.type.tensor_type.shape.dim[0].dim_param for value in (model.graph.input[0], model.graph.output[0])],
                         ["batch", "batch"])
        self.assertEqual([numpy_helper.to_array(each).tolist() for each in model.graph.initializer], [[0, 6], [6, 1]])


if __name__ == "__main__":
    unittest.main()
