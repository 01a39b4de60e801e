"""tern.Pipeline: raw bytes in, answers out."""

import pathlib
import shutil
import tempfile
import threading
import unittest

import numpy as np
import support
import tern

SAMPLES = support.ROOT / "examples/digits/samples"

VECTOR = """
inputs:
  image:
    - decode_image: {channels: gray}
    - resize: 28x28
    - normalise: {scale: 1/255}
outputs:
  vector:
    - l2_normalise
"""


class Pipelines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pipeline = tern.Pipeline(support.DIGITS)

    def digit(self, answer):
        return answer["digit"][0]["label"]

    def test_items_are_bytes_or_paths(self):
        path = SAMPLES / "3_0.png"
        for item in (path, path.read_bytes(), bytearray(path.read_bytes()), memoryview(path.read_bytes())):
            self.assertEqual(self.digit(self.pipeline(item)), "3")
        self.assertEqual(self.digit(self.pipeline(image=path)), "3")

    def test_a_list_is_a_batch(self):
        paths = sorted(SAMPLES.glob("*_0.png"))
        answers = self.pipeline(paths)
        self.assertEqual([self.digit(answer) for answer in answers], [path.name[0] for path in paths])
        self.assertEqual(self.pipeline([paths[0]])[0].keys(), {"digit"})

    def test_equal_to_the_predictor(self):
        from PIL import Image

        path = SAMPLES / "7_0.png"
        pixels = np.asarray(Image.open(path).convert("L"), np.float32)[None, None] / 255
        wanted = tern.load(support.DIGITS)(pixels)["probabilities"][0]
        for label in self.pipeline(path)["digit"]:
            self.assertAlmostEqual(label["score"], float(wanted[label["index"]]), places=5)

    def test_vectors_are_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "vector.yaml")
            file.write_text(VECTOR)
            answer = tern.Pipeline(support.DIGITS, file, threads=1)(SAMPLES / "1_0.png")
        self.assertEqual((answer["vector"].dtype, answer["vector"].shape), (np.float32, (10,)))
        self.assertAlmostEqual(float(np.linalg.norm(answer["vector"])), 1, places=5)

    def test_mistakes(self):
        for call, error, text in (
                (lambda: self.pipeline(b"nonsense"), tern.InvalidArgument, "neither JPEG"),
                (lambda: self.pipeline((SAMPLES / "7_0.png").read_bytes()[:60]), tern.InvalidArgument, "image"),
                (lambda: self.pipeline(7), tern.InvalidArgument, "input 'image'.*not int"),
                (lambda: self.pipeline(pathlib.Path("nowhere.png")), tern.IoError, "nowhere.png"),
                (lambda: self.pipeline(), tern.InvalidArgument, "image"),
                (lambda: self.pipeline(picture=b""), tern.InvalidArgument, "no input 'picture'"),
                (lambda: tern.Pipeline("nowhere.onnx"), tern.ModelNotFound, "nowhere.onnx")):
            with self.assertRaisesRegex(error, text):
                call()

    def test_a_model_without_a_pipeline(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(support.DIGITS, folder)
            with self.assertRaisesRegex(tern.Error, "pipeline.yaml"):
                tern.Pipeline(pathlib.Path(folder, "digits.onnx"))

    def test_threads_share_a_pipeline(self):
        found = []

        def work(digit):
            for _ in range(10):
                found.append(self.digit(self.pipeline(SAMPLES / f"{digit}_0.png")) == str(digit))
        threads = [threading.Thread(target=work, args=(digit,)) for digit in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 40)


if __name__ == "__main__":
    unittest.main()
