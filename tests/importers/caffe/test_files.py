"""How the files of a network are found and read: weights, older formats, names of outputs, errors."""

import pathlib
import tempfile
import unittest

import numpy as np
from caffe_net import Net, blob, caffemodel, field, number_field
from layer_test import LayerTest, numbers, opencv
from run_model import TernError, run_model, tern


class Files(LayerTest):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.net = Net()
        self.net.input("data", (2, 3))
        self.w, self.b = numbers(4, 3, seed=1), numbers(4, seed=2)
        self.net.layer("InnerProduct", "data", "ip", "inner_product_param { num_output: 4 }", [self.w, self.b])
        self.x = numbers(2, 3)
        self.wanted = self.x @ self.w.T + self.b

    def refused(self, *args, says):
        with self.assertRaises(TernError) as error:
            tern("run", *args, "--random", 1)
        for part in says:
            self.assertIn(part, str(error.exception))

    def test_weights_are_beside_or_given(self):
        text, model = self.net.write(self.folder)
        self.close(run_model(text, {"data": self.x})["ip"], self.wanted)
        other = model.rename(self.folder / "other.caffemodel")
        self.refused(text, says=["layer 'ip' (InnerProduct)", "--weights", "net.caffemodel' does not exist"])
        self.close(run_model(text, {"data": self.x}, "--weights", other)["ip"], self.wanted)
        self.refused(text, "--weights", self.folder / "none.caffemodel", says=["none.caffemodel", "No such file"])
        self.refused(text, "--weights", text, says=["are a text file; a binary .caffemodel is needed"])
        self.refused(other, "--weights", other, says=["the model must be the .prototxt"])

    def test_forms_of_blobs(self):
        for form in ("shape", "legacy", "double", "unpacked", "half"):
            text, _ = self.net.write(self.folder, form=form)
            tolerance = {"rtol": 1e-2, "atol": 1e-2} if form == "half" else {}
            self.close(run_model(text, {"data": self.x})["ip"], self.wanted, msg=form, **tolerance)

    def test_a_caffemodel_alone(self):
        """The network in the file is used if it has inputs, otherwise the text beside it."""
        text, model = self.net.write(self.folder)
        self.close(run_model(model, {"data": self.x})["ip"], self.wanted)
        text.unlink()
        self.refused(model, says=["has no inputs", "--weights"])
        shape = field(1, field(1, bytes([2, 3])))
        data = field(1, "data") + field(2, "Input") + field(4, "data") + field(143, shape)
        ip = (field(1, "ip") + field(2, "InnerProduct") + field(3, "data") + field(4, "ip") + field(7, blob(self.w)) + field(7, blob(self.b)) +
              field(117, number_field(1, 4)))
        model.write_bytes(field(1, "net") + field(100, data) + field(100, ip))
        self.close(run_model(model, {"data": self.x})["ip"], self.wanted)
        v1 = field(2, "data") + field(3, "ip") + field(4, "ip") + number_field(5, 14) + field(6, blob(self.w)) + field(6, blob(self.b)) + field(17, number_field(1, 4))
        dims = b"".join(number_field(4, d) for d in (2, 3, 1, 1))
        model.write_bytes(field(1, "net") + field(2, v1) + field(3, "data") + dims)
        self.close(run_model(model, {"data": self.x.reshape(2, 3, 1, 1)})["ip"], self.wanted)

    def test_older_formats(self):
        x, w, b = numbers(1, 3, 8, 8), numbers(4, 3, 3, 3, seed=1), numbers(4, seed=2)
        head = 'name: "old" input: "data" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8\n'
        new = head + ('layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 } }\n'
                      'layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }\n'
                      'layer { name: "pool" type: "Pooling" bottom: "conv" top: "y" pooling_param { pool: AVE kernel_size: 3 stride: 2 } }')
        v1 = head + ('layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 weight_decay: 1 convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 } }\n'
                     'layers { name: "relu" type: RELU bottom: "conv" top: "conv" }\n'
                     'layers { name: "pool" type: POOLING bottom: "conv" top: "y" pooling_param { pool: AVE kernel_size: 3 stride: 2 } }')
        v0 = head + ('layers { layer { name: "pad" type: "padding" pad: 1 } bottom: "data" top: "padded" }\n'
                     'layers { layer { name: "conv" type: "conv" num_output: 4 kernelsize: 3 stride: 2 blobs_lr: 1. } bottom: "padded" top: "conv" }\n'
                     'layers { layer { name: "relu" type: "relu" } bottom: "conv" top: "conv" }\n'
                     'layers { layer { name: "pool" type: "pool" pool: AVE kernelsize: 3 stride: 2 } bottom: "conv" top: "y" }')
        blobs = {"conv": ("Convolution", [w, b])}
        results = []
        for i, (text, data) in enumerate(((new, caffemodel(blobs)), (v1, caffemodel(blobs, form="legacy", v1=True)), (v0, caffemodel(blobs, form="legacy", v1=True)))):
            path = self.folder / f"{i}.prototxt"
            path.write_text(text)
            path.with_suffix(".caffemodel").write_bytes(data)
            results.append(run_model(path, {"data": x})["y"])
        wanted = opencv(self.folder / "0.prototxt", self.folder / "0.caffemodel", {"data": x}, ["pool"])["pool"]
        for got in results:
            self.close(got, wanted)

    def test_weights_are_found_by_name(self):
        net = Net()
        net.input("data", (2, 3))
        net.layer("InnerProduct", "data", "a", "inner_product_param { num_output: 3 bias_term: false } param { name: 'w' }")
        net.layer("InnerProduct", "a", "b", "inner_product_param { num_output: 3 bias_term: false } param { name: 'w' }")
        net.layer("InnerProduct", "b", "c", "inner_product_param { num_output: 4 }")
        w = numbers(3, 3, seed=5)
        net.blobs = {"c": ("InnerProduct", [self.w, self.b]), "unused": ("InnerProduct", [self.w]), "a": ("InnerProduct", [w])}
        text, _ = net.write(self.folder)
        self.close(run_model(text, {"data": self.x})["c"], self.x @ w.T @ w.T @ self.w.T + self.b)
        net.blobs.pop("c")
        net.write(self.folder)
        self.refused(text, says=["layer 'c' (InnerProduct) needs weights", "no layer of this name"])
        net.blobs["c"] = ("InnerProduct", [self.w.T, self.b])
        net.write(self.folder)
        self.refused(text, says=["blob #0 of the weights is [3,4], but must be [4,3]"])

    def test_outputs_are_sorted_by_name(self):
        net = Net()
        net.input("data", (2, 4))
        net.layer("Slice", "data", "s", "", tops=["z", "a/b:c"])
        net.layer("ReLU", "z", "r", tops=["z"])
        text, _ = net.write(self.folder)
        x = numbers(2, 4)
        got = run_model(text, {"data": x})
        self.assertEqual(list(got), ["a/b:c", "z"])
        self.close(got["z"], np.maximum(x[:, :2], 0))

    def test_other_commands(self):
        text, _ = self.net.write(self.folder)
        self.assertIn("InnerProduct", tern("inspect", text, "--json") + tern("inspect", text))
        tern("optimize", text, "-o", self.folder / "o.tern")
        self.close(run_model(self.folder / "o.tern", {"data": self.x})["ip"], self.wanted)
        self.close(run_model(text, {"data": self.x[:1]}, "--batch", 1)["ip"], self.wanted[:1])


if __name__ == "__main__":
    unittest.main()
