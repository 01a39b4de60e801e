"""Tests TensorFlow Serving's REST API of tern serve."""

import base64
import json
import os
import pathlib
import shutil
import unittest

import numpy as np
import onnx

from onnx import helper
from saved_model import half_plus_two
from serving import SIMPLE_CONFIG, ServeTest, simple
from support import FLOAT, make_model

ZOO = os.environ.get("TERN_ZOO", "")
HALF = pathlib.Path(ZOO, "models/tensorflow")
TEXT = onnx.TensorProto.STRING


def two_outputs():
    """scores f32[N,3] = x, sum f32[N,1], name string[N] = the input name."""
    nodes = [helper.make_node("Identity", ["x"], ["scores"]), helper.make_node("ReduceSum", ["x", "axes"], ["sum"], keepdims=1),
             helper.make_node("Identity", ["name"], ["raw_bytes"])]
    return make_model(nodes, {"x": (FLOAT, ["N", 3]), "name": (TEXT, ["N"])},
                      {"scores": (FLOAT, ["N", 3]), "sum": (FLOAT, ["N", 1]), "raw_bytes": (TEXT, ["N"])}, {"axes": np.array([1])})


class TfsTest(ServeTest):
    def post(self, server, path, body, status=200):
        got, _, data = server.call("POST", f"/v1/models/{path}", body if isinstance(body, str) else json.dumps(body))
        self.assertEqual(got, status, data)
        return json.loads(data)

    def refusal(self, server, path, body, *says, status=400):
        error = self.post(server, path, body, status)
        self.assertEqual(list(error), ["error"])
        for text in says:
            self.assertIn(text, error["error"])


class Rest(TfsTest):
    def server(self):
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG), "two": (two_outputs(), None)})
        half_plus_two(root / "half" / "123")
        return self.serve("--repository", root)

    def test_rows_and_columns(self):
        server = self.server()
        self.assertEqual(self.post(server, "half:predict", {"instances": [1.0, 2.0, 5.0]}), {"predictions": [2.5, 3.0, 4.5]})
        self.assertEqual(self.post(server, "half/versions/123:predict", {"inputs": {"x": [1, 2]}}), {"outputs": [2.5, 3.0]})
        self.assertEqual(self.post(server, "half:predict", {"instances": [{"x": 1.0}], "signature_name": "same"}), {"predictions": [2.5]})
        # More items than max_batch_size, which is 4, are executed in parts.
        many = list(range(40))
        self.assertEqual(self.post(server, "half:predict", {"inputs": many})["outputs"], [i / 2 + 2 for i in many])
        rows = [{"INPUT0": list(range(16)), "INPUT1": [1] * 16}, {"INPUT0": [5] * 16, "INPUT1": [2] * 16}]
        got = self.post(server, "simple:predict", {"instances": rows})["predictions"]
        self.assertEqual(got[0], {"OUTPUT0": list(range(1, 17)), "OUTPUT1": list(range(-1, 15))})
        self.assertEqual(got[1]["OUTPUT1"], [3] * 16)
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        got = self.post(server, "simple:predict", {"inputs": columns})["outputs"]
        self.assertEqual(got["OUTPUT0"], [list(range(1, 17)), [7] * 16])

    def test_bytes_and_special_numbers(self):
        server = self.server()
        raw = b"\xff\x00tern"
        rows = [{"x": [1, 2, 3], "name": "héllo"}, {"x": [4, 5, 6], "name": {"b64": base64.b64encode(raw).decode()}}]
        got = self.post(server, "two:predict", {"instances": rows})["predictions"]
        self.assertEqual(got[0], {"scores": [1.0, 2.0, 3.0], "sum": [6.0], "raw_bytes": {"b64": base64.b64encode("héllo".encode()).decode()}})
        self.assertEqual(base64.b64decode(got[1]["raw_bytes"]["b64"]), raw)
        got = self.post(server, "half:predict", '{"instances": [NaN, Infinity, -Infinity, 1e-3]}')["predictions"]
        self.assertTrue(np.isnan(got[0]))
        self.assertEqual(got[1:3], [float("inf"), float("-inf")])

    def test_classify_and_regress(self):
        server = self.server()
        regress = {"signature_name": "regress", "examples": [{"x": 1.0}, {"x": [2.0]}]}
        self.assertEqual(self.post(server, "half:regress", regress), {"results": [2.5, 3.0]})
        self.assertEqual(self.post(server, "half:regress", {**regress, "context": {"x": 4.0}, "examples": [{}]}), {"results": [4.0]})
        classify = {"signature_name": "classify", "examples": [{"x": 1.0, "text": "owl"}, {"x": 2.0}]}
        self.assertEqual(self.post(server, "half:classify", classify), {"results": [[["owl", 2.5]], [["none", 3.0]]]})
        # The features of another model are its inputs. Integers become floats.
        config = 'max_batch_size: 4 output { name: "scores" data_type: TYPE_FP32 dims: 3 label_filename: "labels.txt" }'
        root = self.dir / "plain"
        (root / "plain/1").mkdir(parents=True)
        (root / "plain/labels.txt").write_text("owl\ncrow\n")
        (root / "plain/config.pbtxt").write_text('name: "plain" input { name: "x" data_type: TYPE_FP32 dims: 3 } ' + config)
        model = make_model([helper.make_node("Identity", ["x"], ["scores"])], {"x": (FLOAT, ["N", 3])}, {"scores": (FLOAT, ["N", 3])})
        onnx.save(model, root / "plain/1/model.onnx")
        plain = self.serve("--repository", root)
        examples = {"examples": [{"x": [1, 2, 3]}, {"x": [0.5, 1.5, 2.5]}]}
        self.assertEqual(self.post(plain, "plain:classify", examples)["results"],
                         [[["owl", 1.0], ["crow", 2.0], ["", 3.0]], [["owl", 0.5], ["crow", 1.5], ["", 2.5]]])
        self.refusal(plain, "plain:regress", examples, "Expected output Tensor shape to be either [batch_size] or [batch_size, 1]")
        self.refusal(plain, "plain:classify", {"examples": [{"x": [1, 2]}]}, "has 2 values, but each item takes 3")
        self.refusal(plain, "plain:classify", {"examples": [{"y": 1}]}, "Feature: x (data type: float) is required")

    def test_status_and_metadata(self):
        server = self.server()
        status, answer = server.json("GET", "/v1/models/half")
        self.assertEqual((status, answer["model_version_status"]),
                         (200, [{"version": "123", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}]))
        self.assertEqual((answer["id"], answer["object"], answer["owned_by"]), ("half", "model", "tern"))
        self.assertIsInstance(answer["created"], int)
        self.assertEqual(server.json("GET", "/v1/models/half/versions/123")[1]["model_version_status"][0]["version"], "123")
        self.assertEqual(server.json("GET", "/v1/models/half/versions/7"), (404, {"error": "Could not find version 7 of model half"}))
        self.assertEqual(server.json("GET", "/v1/models/none"), (404, {"error": "Could not find any versions of model none"}))
        metadata = server.json("GET", "/v1/models/half/metadata")[1]
        self.assertEqual(metadata["model_spec"], {"name": "half", "signature_name": "", "version": "123"})
        signatures = metadata["metadata"]["signature_def"]["signature_def"]
        self.assertEqual(sorted(signatures), ["broken", "classify", "regress", "same", "serving_default"])
        self.assertEqual(signatures["regress"]["method_name"], "tensorflow/serving/regress")
        self.assertEqual(signatures["serving_default"]["inputs"]["x"], {
            "dtype": "DT_FLOAT", "tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False}, "name": "x:0"})
        own = server.json("GET", "/v1/models/simple/versions/1/metadata")[1]["metadata"]["signature_def"]["signature_def"]
        self.assertEqual(own["serving_default"]["inputs"]["INPUT0"]["tensor_shape"]["dim"][1]["size"], "16")

    def test_labels(self):
        server = self.server()
        body = {"action": "label", "label": "beta", "version": 123}
        self.assertEqual(server.json("POST", "/v2/repository/models/half/rollout", body)[0], 200)
        self.assertEqual(self.post(server, "half/labels/beta:predict", {"instances": [1.0]}), {"predictions": [2.5]})
        regress = {"signature_name": "regress", "examples": [{"x": 1.0}]}
        self.assertEqual(self.post(server, "half/labels/beta:regress", regress), {"results": [2.5]})
        self.assertEqual(server.json("GET", "/v1/models/half/labels/beta")[1]["model_version_status"][0]["version"], "123")
        self.assertEqual(server.json("GET", "/v1/models/half/labels/beta/metadata")[1]["model_spec"]["version"], "123")

    def test_refusals(self):
        server = self.server()
        self.refusal(server, "none:predict", {"instances": [1]}, "Servable not found for request: Latest(none)", status=404)
        self.refusal(server, "half/versions/9:predict", {"instances": [1]}, "Servable not found for request: Specific(half, 9)", status=404)
        self.refusal(server, "half/labels/stable:predict", {"instances": [1]}, "label: stable")
        self.refusal(server, "half:predict", {"instances": [1], "signature_name": "none"}, 'name: "none" not found in signature def')
        self.refusal(server, "half:predict", {"instances": [1], "signature_name": "broken"}, "signature 'broken' of model 'half'", "Zebra", status=501)
        self.refusal(server, "half:predict", "", "The document is empty")
        self.refusal(server, "half:predict", "[1]", "Is not object")
        self.refusal(server, "half:predict", {}, "Missing 'inputs' or 'instances' key")
        self.refusal(server, "half:predict", {"instances": []}, "No values in 'instances' array")
        self.refusal(server, "half:predict", {"instances": [1], "inputs": [1]}, "only one of 'inputs' or 'instances'")
        self.refusal(server, "half:predict", {"instances": ["a"]}, 'JSON Value: "a" Type: String is not of expected type: float')
        self.refusal(server, "half:predict", {"instances": [16777217]}, "to float without loss of precision")
        self.refusal(server, "half:predict", {"instances": [1, [2]]}, "Failed to process element: 1", "Expecting shape [] but got: [1]")
        self.refusal(server, "half:predict", {"instances": [{"z": 1}]}, "does not have named input: z")
        self.refusal(server, "simple:predict", {"instances": [[1]]}, "expecting list of objects as multiple input tensors required")
        self.refusal(server, "simple:predict", {"instances": [{"INPUT0": [1] * 16}]}, "keys must be equal to: INPUT0,INPUT1")
        self.refusal(server, "simple:predict", {"inputs": {"INPUT0": [[1] * 16]}}, "Missing named input: INPUT1")
        self.refusal(server, "simple:predict", {"inputs": {"INPUT0": [[1.5] * 16], "INPUT1": [[1] * 16]}}, "is not of expected type: int32")
        self.refusal(server, "simple:predict", {"inputs": {"INPUT0": [[1] * 16, [1]], "INPUT1": [[1] * 16] * 2}},
                     "Encountered list at unexpected size: 1 at level: 1 expected size: 16")
        self.refusal(server, "half:regress", {"signature_name": "regress"}, "key 'examples' is expected")
        self.refusal(server, "half:regress", {"signature_name": "regress", "examples": [{}]}, "Feature: x")
        self.refusal(server, "half:regress", {"signature_name": "regress", "examples": [{"x": 1}]}, "Data types don't match")
        self.refusal(server, "half:regress", {"signature_name": "regress", "examples": [{"x": [1.0, "a"]}]},
                     "Unexpected element type in feature: x expecting type: float")
        self.assertEqual(server.json("GET", "/v1/models/half:predict")[0], 405)
        self.assertEqual(server.json("POST", "/v1/models/half", {})[0], 405)
        self.assertEqual(server.json("POST", "/v1/models/half:explain", {})[0], 404)

    def test_statistics_restrictions_and_access_log(self):
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG)})
        half_plus_two(root / "half" / "123")
        log = self.dir / "access.json"
        server = self.serve("--repository", root, "--log", log, "--http-restricted-api", "inference:key=secret")
        body = json.dumps({"signature_name": "regress", "examples": [{"x": 1.0}]})
        self.assertEqual(server.call("POST", "/v1/models/half:regress", body)[0], 403)
        self.assertEqual(server.call("POST", "/v1/models/half:regress", body, {"key": "secret"})[0], 200)
        stats = server.json("GET", "/v2/models/half/stats")[1]["model_stats"][0]
        self.assertEqual((stats["inference_count"], stats["inference_stats"]["success"]["count"]), (1, 1))
        _, _, metrics = server.call("GET", "/monitoring/prometheus/metrics", port="metrics")
        self.assertIn(b'nv_inference_request_success{model="half",version="123"} 1', metrics)
        server.stop()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        done = [line for line in lines if line.get("model") == "half"]
        self.assertEqual([line["status"] for line in done], [200])
        self.assertEqual(done[0]["version"], "123")


@unittest.skipUnless(ZOO and (HALF / "saved_model_half_plus_two_cpu").is_dir(), "TERN_ZOO is not set")
class HalfPlusTwo(TfsTest):
    """The models of TensorFlow Serving's documentation, and its answers."""

    def test_the_well_known_answers(self):
        root = self.dir / "models"
        for name in ("saved_model_half_plus_two_cpu", "saved_model_half_plus_two_tf2_cpu"):
            shutil.copytree(HALF / name / "00000123", root / name / "123")
        server = self.serve("--repository", root)
        for name in ("saved_model_half_plus_two_cpu", "saved_model_half_plus_two_tf2_cpu"):
            with self.subTest(name):
                self.assertEqual(self.post(server, f"{name}:predict", {"instances": [1.0, 2.0, 5.0]}), {"predictions": [2.5, 3.0, 4.5]})
                self.assertEqual(self.post(server, f"{name}:predict", {"inputs": [1.0, 2.0, 5.0]}), {"outputs": [2.5, 3.0, 4.5]})
                examples = [{"x": 1.0}, {"x": 2.0}]
                self.assertEqual(self.post(server, f"{name}:regress", {"signature_name": "regress_x_to_y", "examples": examples}),
                                 {"results": [2.5, 3.0]})
                self.assertEqual(self.post(server, f"{name}:regress", {"signature_name": "regress_x_to_y2", "examples": examples}),
                                 {"results": [3.5, 4.0]})
                self.assertEqual(self.post(server, f"{name}:classify", {"signature_name": "classify_x_to_y", "examples": examples}),
                                 {"results": [[["", 2.5]], [["", 3.0]]]})


if __name__ == "__main__":
    unittest.main()
