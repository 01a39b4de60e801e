"""Pipelines with small files that ask for much memory or time, and results that a client decodes by the metadata."""

import io
import resource
import struct
import subprocess
import unittest
import zlib

import numpy as np
from onnx import helper
from PIL import Image

from serving import ServeTest
from support import FLOAT, TERN, CliTest, make_model
from test_pipelines import wav

MEMORY = 1 << 20  # kB that a run may take

PICTURE = "inputs: {image: [decode_image, {normalise: {scale: 1/255}}]}\n"
SOUND = "inputs: {sound: [{decode_audio: {seconds: 30}}]}\noutputs: {y: [tensor: y]}\n"


def copy_model(kind, shape):
    return make_model([helper.make_node(kind, ["x"], ["y"])], {"x": (FLOAT, shape)}, {"y": (FLOAT, shape)})


def text_bomb(count=300, size=8 << 20):
    """Returns a PNG of one pixel with texts that inflate to `size` bytes each."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    text = chunk(b"zTXt", b"k\0\0" + zlib.compress(b"a" * (size - 16), 9))
    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + text * count + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


def scan_bomb(count=300):
    """Returns a progressive JPEG whose last scan is repeated."""
    file = io.BytesIO()
    Image.new("L", (64, 64), 90).save(file, "JPEG", progressive=True)
    data = file.getvalue()
    last = data.rindex(b"\xff\xda")
    return data[:last] + data[last:-2] * count + data[-2:]


class Limits(CliTest):
    def run_pipeline(self, model, pipeline, content, name="item"):
        path, item = self.dir / "m.onnx", self.dir / name
        path.write_bytes(model.SerializeToString())
        (self.dir / "pipeline.yaml").write_text(pipeline)
        item.write_bytes(content)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY << 10, MEMORY << 10))
        return subprocess.run([TERN, "run", path, "--threads", "1", "--input", item], capture_output=True, text=True, check=False, timeout=60,
                              preexec_fn=limit)

    def test_texts_of_a_png_take_no_memory(self):
        done = self.run_pipeline(copy_model("Neg", ["N", 1, 1, 1]), PICTURE + "outputs: {y: [tensor: y]}\n", text_bomb())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_scans_of_a_jpeg_are_limited(self):
        done = self.run_pipeline(copy_model("Neg", ["N", 1, 64, 64]), PICTURE + "outputs: {y: [tensor: y]}\n", scan_bomb())
        self.assertEqual(done.returncode, 2)
        self.assertIn("more than 200 scans", done.stderr)
        done = self.run_pipeline(copy_model("Neg", ["N", 1, 64, 64]), PICTURE + "outputs: {y: [tensor: y]}\n", scan_bomb(1))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_sample_rates_are_limited(self):
        done = self.run_pipeline(copy_model("Neg", ["N", "T"]), SOUND, wav([0.5], rate=1 << 24))
        self.assertEqual(done.returncode, 2)
        self.assertIn("16777216 Hz", done.stderr)

    def test_frames_have_no_single_label(self):
        pipeline = "inputs: {sound: [{decode_audio: {}}, {frames: {size: 4}}]}\noutputs: {label: [top_k: 1]}\n"
        done = self.run_pipeline(copy_model("Neg", ["N", 4]), pipeline, wav([0.5] * 8))
        self.assertEqual(done.returncode, 2)
        self.assertIn("one per frame", done.stderr)


class Segmentation(ServeTest):
    def test_the_answer_has_the_type_of_the_metadata(self):
        nodes = [helper.make_node("Sub", ["half", "x"], ["low"]), helper.make_node("Concat", ["low", "x"], ["y"], axis=1)]
        model = make_model(nodes, {"x": (FLOAT, ["N", 1, 2, 2])}, {"y": (FLOAT, ["N", 2, 2, 2])}, {"half": np.array(1, np.float32)})
        (self.dir / "m.onnx").write_bytes(model.SerializeToString())
        (self.dir / "pipeline.yaml").write_text(PICTURE + "outputs: {classes: [segmentation]}\n")
        file = io.BytesIO()
        Image.fromarray(np.array([[0, 255], [255, 0]], np.uint8)).save(file, "PNG")
        server = self.serve("--model", f"m={self.dir / 'm.onnx'}")
        import tritonclient.http as client

        http = client.InferenceServerClient(f"localhost:{server.ports['http']}")
        declared = http.get_model_metadata("m")["outputs"][0]
        self.assertEqual((declared["datatype"], declared["shape"]), ("INT32", [-1, -1, -1]))
        item = client.InferInput("image", [1], "BYTES")
        item.set_data_from_numpy(np.array([file.getvalue()], object))
        answer = http.infer("m", [item]).as_numpy("classes")
        self.assertEqual((answer.dtype, answer.tolist()), (np.int32, [[[0, 1], [1, 0]]]))
        http.close()


if __name__ == "__main__":
    unittest.main()
