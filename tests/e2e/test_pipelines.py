"""Tests pipelines: tern run, tern pipeline, and the server with pictures, sounds and texts."""

import base64
import concurrent.futures
import io
import json
import shutil
import struct
import unittest
import wave
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper

from serving import ROOT, ServeTest
from support import FLOAT, INT64, CliTest, make_model

DIGITS = ROOT / "examples/digits"
SEVEN = (DIGITS / "samples/7_0.png").read_bytes()
THREE = (DIGITS / "samples/3_0.png").read_bytes()

TOKENIZER = json.dumps({
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
    "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[PAD]": 0, "[UNK]": 1, "cats": 2, "purr": 3, "dogs": 4}}})


def wav(samples, rate=8):
    """Returns a WAV file with these samples of -1 to 1."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes((np.asarray(samples) * 32767).astype("<i2").tobytes())
    return file.getvalue()


def png(width, height, rows=b""):
    """Returns a PNG with a head of this size and the given compressed rows."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def text_model():
    """Returns a model of tokens whose vector for a token is (id, 1)."""
    nodes = [helper.make_node("Mul", ["attention_mask", "zero"], ["none"]), helper.make_node("Add", ["input_ids", "none"], ["ids"]),
             helper.make_node("Gather", ["table", "ids"], ["last_hidden_state"])]
    table = np.stack([np.arange(5), np.ones(5)], 1).astype(np.float32)
    return make_model(nodes, {"input_ids": (INT64, ["N", "T"]), "attention_mask": (INT64, ["N", "T"])},
                      {"last_hidden_state": (FLOAT, ["N", "T", 2])}, {"table": table, "zero": np.array(0, np.int64)})


def speech_model():
    """Returns a detector of loud frames. Its state is the loudest sample so far."""
    nodes = [helper.make_node("ReduceMax", ["input"], ["peak"], axes=[1], keepdims=1), helper.make_node("Max", ["state", "peak"], ["stateN"]),
             helper.make_node("Cast", ["sr"], ["rate"], to=TensorProto.FLOAT), helper.make_node("Mul", ["rate", "zero"], ["nothing"]),
             helper.make_node("Add", ["peak", "nothing"], ["output"])]
    return make_model(nodes, {"input": (FLOAT, [1, 4]), "state": (FLOAT, [1, 1]), "sr": (INT64, [])},
                      {"output": (FLOAT, [1, 1]), "stateN": (FLOAT, [1, 1])}, {"zero": np.array(0, np.float32)})


SPEECH = """inputs:
  audio:
    - decode_audio: {rate: 8}
    - frames: 4
constants: {sr: 8}
states: {state: stateN}
outputs:
  speech: [tensor: output, threshold: 0.25]
"""
TEXT = "inputs: {text: [tokenize]}\noutputs: {vector: [pool: mean]}\n"


class PipelineTest(ServeTest):
    def folder(self, name, model, pipeline, **files):
        """Creates a folder with a model, its pipeline and other files."""
        path = self.dir / "models" / name / "1"
        path.mkdir(parents=True)
        onnx.save(model, path / "model.onnx")
        (path / "pipeline.yaml").write_text(pipeline)
        for file, text in files.items():
            (path / file.replace("_", ".")).write_text(text)
        return path

    def text_folder(self):
        return self.folder("text", text_model(), TEXT, tokenizer_json=TOKENIZER)


class Run(PipelineTest):
    def test_a_picture_gives_a_label(self):
        out = self.ok("run", DIGITS / "digits.onnx", "--input", DIGITS / "samples/7_0.png").stdout
        self.assertRegex(out, r"^digit:\n  0\.99\d\d  7\n")
        results = self.json("run", DIGITS, "--input", f"image={DIGITS}/samples/7_0.png", "--input", f"image={DIGITS}/samples/3_0.png", "--json")["results"]
        self.assertEqual([r["digit"][0]["label"] for r in results], ["7", "3"])
        self.assertEqual(results[0]["digit"][0]["index"], 7)

    def test_options_of_tensors_and_no_pipeline_turn_it_off(self):
        for option in (["--no-pipeline"], ["--topk", "1"]):
            out = self.ok("run", DIGITS / "digits.onnx", "--input", DIGITS / "samples/7_0.png", *option).stdout
            self.assertIn("probabilities", out)
        self.refused("run", DIGITS / "digits.onnx", "--input", "x.png", "--pipeline", DIGITS / "pipeline.yaml", "--topk", "1", says="--topk")

    def test_the_pipeline_equals_the_options(self):
        plain = self.json("run", DIGITS / "digits.onnx", "--input", DIGITS / "samples/3_0.png", "--no-pipeline", "--json")
        scores = plain["outputs"]["probabilities"]["data"][0]
        best = self.json("run", DIGITS / "digits.onnx", "--input", DIGITS / "samples/3_0.png", "--json")["results"][0]["digit"]
        for label in best:
            self.assertAlmostEqual(label["score"], scores[label["index"]], places=4)

    def test_a_text_gives_a_vector(self):
        model = self.text_folder() / "model.onnx"
        results = self.json("run", model, "--text", "Cats purr", "--text", "dogs", "--json")["results"]
        self.assertEqual([r["vector"] for r in results], [[2.5, 1], [4, 1]])

    def test_a_sound_gives_spans(self):
        folder = self.folder("speech", speech_model(), SPEECH)
        sound = self.dir / "sound.wav"
        sound.write_bytes(wav([0] * 4 + [0.5] * 8 + [0] * 4))
        result = self.json("run", folder / "model.onnx", "--input", sound, "--json")["results"][0]["speech"]
        self.assertEqual([(s["start"], s["end"]) for s in result], [(0.5, 1.5)])

    def test_mistakes_name_the_line(self):
        folder = self.folder("bad", text_model(), "inputs: {text: [tokenize]}\noutputs:\n  vector:\n    - pol: mean\n", tokenizer_json=TOKENIZER)
        self.refused("run", folder / "model.onnx", "--text", "x", says=["pipeline.yaml, line 4", "unknown step 'pol'; did you mean 'pool'?"])
        self.refused("run", self.save(text_model()), "--text", "x", says="tern pipeline init")


class Init(PipelineTest):
    def test_a_guessed_pipeline_works(self):
        shutil.copy(DIGITS / "digits.onnx", self.dir / "digits.onnx")
        text = self.ok("pipeline", "init", self.dir / "digits.onnx").stdout
        self.assertIn("# Guessed: an image classifier", text)
        self.ok("pipeline", "check", self.dir / "digits.onnx")
        self.refused("pipeline", "init", self.dir / "digits.onnx", says="--force")
        best = self.json("run", self.dir / "digits.onnx", "--input", DIGITS / "samples/7_0.png", "--json")["results"][0]["label"][0]
        self.assertEqual(best["index"], 7)

    def test_outputs_that_no_step_reads_are_comments(self):
        nodes = [helper.make_node("GlobalAveragePool", ["x"], ["p"]), helper.make_node("Flatten", ["p"], ["scores"]), helper.make_node("Relu", ["x"], ["map"])]
        dims, lines = ["N", 3, 32, 32], "two\nlabels: none.txt"
        nodes.append(helper.make_node("Neg", ["x"], [lines]))
        model = self.save(make_model(nodes, {"x": (FLOAT, dims)}, {"scores": (FLOAT, ["N", 3]), "map": (FLOAT, dims), lines: (FLOAT, dims)}))
        file = self.dir / "two.yaml"
        text = self.ok("pipeline", "init", model, "-o", "-").stdout
        self.assertIn("top_k: 3\n", text)  # there are only 3 classes
        self.assertNotIn("none.txt", text)  # it would be a line of its own
        file.write_text(text.replace("  # \"map\"", "  \"map\"").replace("  #   -", "    -"))
        results = self.json("run", model, "--input", DIGITS / "samples/7_0.png", "--pipeline", file, "--json")["results"][0]
        self.assertEqual(sorted(results), ["label", "map"])

    def test_labels_of_another_model_cause_a_warning(self):
        folder = self.dir / "labels"
        shutil.copytree(DIGITS, folder)
        file = folder / "pipeline.yaml"
        file.write_text(file.read_text().replace('"8", "9"]', '"8"]'))
        done = self.ok("pipeline", "check", folder / "digits.onnx")
        self.assertIn("warning: there are 9 labels, but output 'probabilities' has 10 classes", done.stderr)

    def test_a_pipeline_serves_the_tern_file_of_its_model(self):
        folder = self.dir / "converted"
        shutil.copytree(DIGITS, folder)
        for name in ("digits.tern", "other.tern"):
            self.ok("convert", folder / "digits.onnx", "-o", folder / name)
        best = self.json("run", folder / "digits.tern", "--input", DIGITS / "samples/7_0.png", "--json")["results"][0]["digit"][0]
        self.assertEqual(best["label"], "7")
        self.refused("pipeline", "check", folder / "other.tern", says=["is for 'digits.onnx', not for 'other.tern'", "'model'"])

    def test_text_and_speech_are_guessed(self):
        folder = self.text_folder()
        text = self.ok("pipeline", "init", folder / "model.onnx", "-o", "-").stdout
        self.assertIn("tokenize: {file: tokenizer.json}", text)
        self.assertIn("pool: mean", text)
        speech = self.ok("pipeline", "init", self.save(speech_model()), "-o", "-").stdout
        self.assertIn('"state": "stateN"', speech)
        self.assertIn("threshold: 0.5", speech)

    def test_classifiers_detectors_and_segmentations_are_guessed(self):
        picture = {"x": (FLOAT, ["N", 3, 224, 224])}
        kinds = {"image classifier": {"y": (FLOAT, ["N", 1000])}, "a detector": {"b": (FLOAT, ["N", 9, 4]), "s": (FLOAT, ["N", 9, 2])},
                 "YOLO": {"y": (FLOAT, ["N", 84, 100])}, "segmentation": {"y": (FLOAT, ["N", 21, 224, 224])}}
        for kind, outputs in kinds.items():
            with self.subTest(kind=kind):
                nodes = [helper.make_node("Reshape", ["x", f"to_{name}"], [name]) for name in outputs]
                shapes = {f"to_{name}": np.array([-1, *dims[1:]], np.int64) for name, (_, dims) in outputs.items()}
                text = self.ok("pipeline", "init", self.save(make_model(nodes, picture, outputs, shapes)), "-o", "-").stdout
                self.assertIn(f"# Guessed: a{'n' if kind[0] == 'i' else ''} {kind.removeprefix('a ')}", text)

    def test_a_model_that_fits_nothing_is_refused_with_reasons(self):
        model = make_model([helper.make_node("Relu", ["a"], ["b"])], {"a": (FLOAT, [3, 5, 7, 9, 2])}, {"b": (FLOAT, [3, 5, 7, 9, 2])})
        self.refused("pipeline", "init", self.save(model), "-o", "-", says=["no kind of pipeline fits", "image: needs one input", "a: f32[3,5,7,9,2]"])


class Serve(PipelineTest):
    def setUp(self):
        super().setUp()
        self.text_folder()
        self.folder("speech", speech_model(), SPEECH)
        shutil.copytree(DIGITS, self.dir / "models/digits/1")
        self.server = self.serve("--repository", self.dir / "models")

    def post(self, model, body, kind, code=200):
        status, _, data = self.server.call("POST", f"/v2/models/{model}/infer", body, {"Content-Type": kind} if kind else {})
        self.assertEqual(status, code, data)
        return json.loads(data)

    def test_a_form_is_refused_with_the_way_out(self):
        self.assertIn("--data-binary", self.post("digits", "--x\r\n\r\n--x--", "multipart/form-data; boundary=x", 400)["error"])

    def test_raw_bodies(self):
        for kind in ("image/png", "Image/PNG; q=1", "application/octet-stream", None):
            self.assertEqual(self.post("digits", SEVEN, kind)["outputs"]["digit"][0]["label"], "7")
        self.assertEqual(self.post("text", "Cats purr", "text/plain; charset=utf-8")["outputs"], {"vector": [2.5, 1]})
        spans = self.post("speech", wav([0] * 4 + [0.5] * 4), "audio/wav")["outputs"]["speech"]
        self.assertEqual([(s["start"], s["end"]) for s in spans], [(0.5, 1)])

    def test_tensors_still_work(self):
        body = json.loads((DIGITS / "seven.json").read_text())
        answer = self.post("digits", json.dumps(body), "application/json")
        self.assertEqual(answer["outputs"][0]["name"], "probabilities")
        tensor = {"name": "image", "datatype": "FP32", "shape": [1, 1, 28, 28], "data": [0] * 784}
        self.assertEqual(self.post("digits", json.dumps({"inputs": [tensor]}), None)["outputs"][0]["shape"], [1, 10])

    def test_a_pipeline_that_is_not_used_causes_a_warning(self):
        folder = self.dir / "unused/digits"
        shutil.copytree(DIGITS, folder / "1")
        (folder / "1/pipeline.yaml").rename(folder / "pipeline.yaml")
        other = self.folder("other", text_model(), "model: net.onnx\n" + TEXT)
        server = self.serve("--repository", self.dir / "unused", "--model", f"text={other / 'model.onnx'}")
        status, _, data = server.call("POST", "/v2/models/digits/infer", SEVEN, {"Content-Type": "image/png"})
        self.assertEqual(status, 400)
        self.assertIn("model 'digits' has no pipeline.yaml", data.decode())
        log = server.text()
        self.assertIn("pipeline.yaml' belongs into the folder of the version", log)
        self.assertIn("is for 'net.onnx', not for 'model.onnx'", log)

    def test_metadata_lists_both(self):
        _, metadata = self.server.json("GET", "/v2/models/digits")
        self.assertEqual(metadata["inputs"], [{"name": "image", "datatype": "BYTES", "shape": [-1]}])
        self.assertEqual(metadata["outputs"], [{"name": "digit", "datatype": "BYTES", "shape": [-1, 3]}])
        self.assertEqual(metadata["tensor_inputs"], [{"name": "image", "datatype": "FP32", "shape": [-1, 1, 28, 28]}])
        _, metadata = self.server.json("GET", "/v2/models/text")
        self.assertEqual(metadata["outputs"], [{"name": "vector", "datatype": "FP32", "shape": [-1, 2]}])
        _, config = self.server.json("GET", "/v2/models/digits/config")
        self.assertEqual(self.tensors(config, "input"), {"image": ("TYPE_STRING", [-1])})
        self.assertEqual(self.tensors(config, "output"), {"digit": ("TYPE_STRING", [-1, 3])})
        self.assertEqual(config["max_batch_size"], 0)

    @staticmethod
    def tensors(config, kind):
        return {tensor["name"]: (tensor["data_type"], tensor["dims"]) for tensor in config[kind]}

    def test_json_sent_as_text(self):
        tensor = {"name": "text", "datatype": "BYTES", "shape": [1], "data": ["cats purr"]}
        for kind in ("text/plain;charset=UTF-8", "application/octet-stream", "application/json"):  # browsers send JSON as text/plain
            answer = self.post("text", " " + json.dumps({"inputs": [tensor]}), kind)
            self.assertEqual(answer["outputs"][0]["data"], [2.5, 1])
        self.assertEqual(self.post("text", "{cats", "text/plain")["outputs"], {"vector": [1.5, 1]})  # '{' is an unknown token

    def test_bytes_tensors_over_json(self):
        tensor = {"name": "text", "datatype": "BYTES", "shape": [2], "data": ["cats purr", "dogs"]}
        answer = self.post("text", json.dumps({"inputs": [tensor]}), "application/json")
        self.assertEqual(answer["outputs"], [{"name": "vector", "datatype": "FP32", "shape": [2, 2], "data": [2.5, 1, 4, 1]}])
        wrong = {"inputs": [tensor], "outputs": [{"name": "last_hidden_state"}]}
        self.assertIn("outputs of the pipeline", self.post("text", json.dumps(wrong), "application/json", 400)["error"])

    def test_bytes_tensors_as_binary_data(self):
        files = [SEVEN, THREE, SEVEN, THREE, SEVEN, THREE, SEVEN]  # more than one batch
        data = b"".join(struct.pack("<I", len(f)) + f for f in files)
        head = json.dumps({"id": "a", "inputs": [{"name": "image", "datatype": "BYTES", "shape": [len(files)], "parameters": {"binary_data_size": len(data)}}]}).encode()
        status, _, answer = self.server.call("POST", "/v2/models/digits/infer", head + data, {"Inference-Header-Content-Length": str(len(head))})
        self.assertEqual(status, 200, answer)
        answer = json.loads(answer)
        self.assertEqual((answer["id"], answer["outputs"][0]["shape"]), ("a", [7, 3]))
        self.assertEqual([label.split(":")[2] for label in answer["outputs"][0]["data"][::3]], list("7373737"))

    def test_bytes_tensors_over_grpc(self):
        try:
            import tritonclient.grpc as triton
        except ImportError:
            self.skipTest("tritonclient is not installed")
        client = triton.InferenceServerClient(self.server.grpc)
        tensor = triton.InferInput("image", [2], "BYTES")
        tensor.set_data_from_numpy(np.array([SEVEN, THREE], dtype=np.object_))
        labels = client.infer("digits", [tensor]).as_numpy("digit")
        self.assertEqual([label.split(b":")[2] for label in labels[:, 0]], [b"7", b"3"])
        tensor.set_data_from_numpy(np.array([SEVEN, SEVEN[:100]], dtype=np.object_))
        with self.assertRaisesRegex(triton.InferenceServerException, "INVALID_ARGUMENT.*item 1: broken PNG"):
            client.infer("digits", [tensor])
        self.assertEqual(client.get_model_metadata("digits").inputs[0].datatype, "BYTES")

    def test_hostile_files(self):
        huge = png(30000, 30000, zlib.compress(b"\0" * 1000))
        bomb = png(60000, 60000, zlib.compress(b"\0" * (1 << 22)))
        for body, says in ((b"", ""), (b"hello", "neither JPEG, PNG"), (SEVEN[:60], "broken PNG"), (SEVEN[:-20], "broken PNG"), (huge, "30000"),
                           (bomb, "60000"), (b"\xff\xd8\xff" + b"\0" * 100, "JPEG"), (b"GIF89a" + b"\xff" * 50, "")):
            error = self.post("digits", body, "image/png", 400)["error"]
            self.assertIn(says, error)
            self.assertNotIn("internal", error)
        for body in (b"RIFF", wav([0.1] * 8)[:30], b"fLaC" + b"\0" * 60, SEVEN):
            self.assertIn("audio", self.post("speech", body, "audio/wav", 400)["error"])
        self.assertIn("seconds", self.post("speech", wav([0] * 8 * 301), "audio/wav", 400)["error"])
        self.assertIn("UTF-8", self.post("text", b"\xff\xfe", "text/plain", 400)["error"])
        self.assertIn("limit", self.post("text", b"a " * 600000, "text/plain", 400)["error"])
        self.assertEqual(self.post("digits", SEVEN, "image/png")["outputs"]["digit"][0]["label"], "7")

    def test_a_bad_picture_does_not_affect_others(self):
        def one(i):
            return self.post("digits", SEVEN if i % 3 else SEVEN[:80], "image/png", 200 if i % 3 else 400)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(one, range(60)))
        self.assertEqual({a["outputs"]["digit"][0]["label"] for a in answers if "outputs" in a}, {"7"})
        stats = self.server.json("GET", "/v2/models/digits/stats")[1]["model_stats"][0]
        self.assertEqual(stats["inference_stats"]["success"]["count"], 40)
        self.assertEqual(stats["inference_stats"]["fail"]["count"], 20)

    def test_load_sends_tensors(self):
        self.assertEqual(self.json("load", self.server.http, "digits", "--seconds", "0.2", "--json")["errors"], 0)
        self.assertEqual(self.server.stop(), 0)


ENSEMBLE = """platform: "ensemble"
input [ {{ name: "in" data_type: {type} dims: [ {dims} ] }} ]
output [ {{ name: "out" data_type: {result} dims: [ {result_dims} ] }} ]
ensemble_scheduling {{ step [ {{ model_name: "digits" model_version: -1
  input_map {{ key: "image" value: "in" }} output_map {{ key: "{output}" value: "out" }} }} ] }}
"""


class Ensembles(PipelineTest):
    def ensemble(self, name, **fields):
        folder = self.dir / "models" / name
        (folder / "1").mkdir(parents=True)
        (folder / "config.pbtxt").write_text(ENSEMBLE.format(**fields))

    def test_a_step_may_have_a_pipeline(self):
        shutil.copytree(DIGITS, self.dir / "models/digits/1")
        # The input of the pipeline and the tensor of the model have the same name.
        self.ensemble("files", type="TYPE_STRING", dims="-1", result="TYPE_STRING", result_dims="-1, 3", output="digit")
        self.ensemble("tensors", type="TYPE_FP32", dims="-1, 1, 28, 28", result="TYPE_FP32", result_dims="-1, 10", output="probabilities")
        self.ensemble("wrong", type="TYPE_STRING", dims="-1", result="TYPE_FP32", result_dims="-1, 10", output="probabilities")
        server = self.serve("--repository", self.dir / "models")
        reasons = {row["name"]: row.get("reason", "") for row in server.json("POST", "/v2/repository/index", {})[1]}
        self.assertIn("ensemble tensor 'in' has type BYTES, but model 'digits' has FP32", reasons["wrong"])
        data = struct.pack("<I", len(SEVEN)) + SEVEN
        head = json.dumps({"inputs": [{"name": "in", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": len(data)}}]}).encode()
        status, _, answer = server.call("POST", "/v2/models/files/infer", head + data, {"Inference-Header-Content-Length": str(len(head))})
        self.assertEqual(status, 200, answer)
        self.assertEqual(json.loads(answer)["outputs"][0]["data"][0].split(":")[2], "7")
        tensor = json.loads((DIGITS / "seven.json").read_text())["inputs"][0] | {"name": "in"}
        status, answer = server.json("POST", "/v2/models/tensors/infer", {"inputs": [tensor]})
        self.assertEqual(status, 200, answer)
        self.assertEqual(int(np.argmax(answer["outputs"][0]["data"])), 7)


class Repository(PipelineTest):
    def test_off(self):
        self.text_folder()
        (self.dir / "models/text/config.pbtxt").write_text('parameters { key: "tern_pipeline" value { string_value: "off" } }')
        server = self.serve("--repository", self.dir / "models")
        self.assertEqual(server.json("GET", "/v2/models/text")[1]["inputs"][0]["datatype"], "INT64")

    def test_a_wrong_pipeline_is_not_served(self):
        folder = self.text_folder()
        (folder / "pipeline.yaml").write_text("inputs: {text: [tokenise]}\noutputs: {v: []}\n")
        server = self.serve("--repository", self.dir / "models")
        index = server.json("POST", "/v2/repository/index", {})[1]
        self.assertIn("unknown step 'tokenise'; did you mean 'tokenize'?", index[0]["reason"])
        self.assertNotIn(str(self.dir), index[0]["reason"])

    def test_a_pipeline_of_a_load_request_reads_no_other_files(self):
        server = self.serve("--repository", self.dir, "--model-control", "explicit")
        model = base64.b64encode(text_model().SerializeToString()).decode()
        pipeline = base64.b64encode(b"labels: /etc/passwd\ninputs: {text: [tokenize]}\noutputs: {v: [top_k: 1]}\n").decode()
        body = {"parameters": {"config": '{"name": "x"}', "file:1/model.onnx": model, "file:1/pipeline.yaml": pipeline}}
        status, answer = server.json("POST", "/v2/repository/models/x/load", body)
        self.assertEqual(status, 400, answer)
        self.assertIn("must be a file beside or below the pipeline", answer["error"])


if __name__ == "__main__":
    unittest.main()
