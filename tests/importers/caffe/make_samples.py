"""Writes samples/: tiny networks with the results of OpenCV, or of the definition in numpy where OpenCV has no such layer.

Run it in the environment of requirements.txt when a sample changes.
"""

import pathlib
import tempfile

import networks
import numpy as np
from caffe_net import caffemodel
from layer_test import numbers, opencv
from test_steps import lstm

SAMPLES = pathlib.Path(__file__).resolve().parent / "samples"


def write(name, text, model, inputs, outputs):
    folder = SAMPLES / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.prototxt").write_text(text)
    (folder / "weights.caffemodel").write_bytes(model)
    np.savez_compressed(folder / "data.npz", **{f"in.{k}": v for k, v in inputs.items()}, **{f"out.{k}": v for k, v in outputs.items()})


def from_opencv(name, net, inputs, outputs, form="shape"):
    with tempfile.TemporaryDirectory() as folder:
        files = net.write(folder, form=form)
        results = opencv(*files, inputs, outputs)
        write(name, files[0].read_text(), files[1].read_bytes(), inputs, results)


def classifier():
    n = networks.Chain("classifier")
    x = n.conv_relu(n.data(3, 15, 13), "conv1", 6, 3, 2)
    x = n.pool(n.lrn(x, "norm1"), "pool1")
    n.softmax(n.dense(n.dropout(x), "fc", 5))
    return n


def residual():
    n = networks.Chain("residual")
    x = n.conv_norm(n.data(3, 12, 12), "conv1", 8, 3, 2, 1)
    y = n.conv_norm(n.conv_norm(x, "a", 8, 3, 1, 1), "b", 8, 3, 1, 1, relu=None)
    n.softmax(n.dense(n.pool(n.relu(n.add(x, y, "sum")), "pool", 6, 1, method="AVE"), "fc", 4))
    return n


def depthwise():
    n = networks.Chain("depthwise")
    x = n.conv_norm(n.data(3, 12, 12), "conv1", 8, 3, 2, 1, relu="ReLU6")
    x = n.conv_norm(n.conv_norm(x, "dw", 8, 3, 1, 1, 8), "sep", 6, 1)
    n.softmax(n.conv(n.global_pool(x, "pool"), "fc", 5, 1))
    return n


def three_branches():
    """A sum of three convolutions with coefficients."""
    n = networks.Chain("branches")
    parts = [n.conv(n.data(3, 8, 8), "a", 4, 1), n.conv("data", "b", 4, 3, pad=1), n.conv("data", "c", 4, 5, pad=2)]
    n.layer("Eltwise", parts, "sum", "eltwise_param { coeff: 1 coeff: 0.5 coeff: -2 }")
    n.shape["sum"] = n.shape["a"]
    n.conv("sum", "out", 3, 3)
    return n


def upsampling():
    n = networks.Chain("upsampling")
    x = n.conv_relu(n.data(3, 10, 10), "conv1", 4, 3, 2, 1)
    n.layer("Deconvolution", x, "up", "convolution_param { num_output: 4 group: 4 kernel_size: 4 stride: 2 pad: 1 bias_term: false }", [n.weights(4, 1, 4, 4)])
    n.layer("Crop", ["up", "data"], "crop", "crop_param { axis: 2 offset: 0 }")
    n.layer("Softmax", "crop", "prob")
    return n


def old_format():
    """The second format: layers with types in capital letters and blobs of four dims."""
    text = ('name: "old" input: "data" input_dim: 1 input_dim: 2 input_dim: 7 input_dim: 7\n'
            'layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 convolution_param { num_output: 3 kernel_size: 3 } }\n'
            'layers { name: "relu" type: RELU bottom: "conv" top: "conv" }\n'
            'layers { name: "ip" type: INNER_PRODUCT bottom: "conv" top: "ip" inner_product_param { num_output: 4 } }\n'
            'layers { name: "prob" type: SOFTMAX bottom: "ip" top: "prob" }\n')
    n = networks.Chain("old")
    n.data(2, 7, 7)
    n.softmax(n.dense(n.conv_relu("data", "conv", 3, 3), "ip", 4))
    with tempfile.TemporaryDirectory() as folder:
        x = {"data": numbers(1, 2, 7, 7)}
        results = opencv(*n.write(folder), x, ["prob"])
    write("old_format", text, caffemodel(n.blobs, form="legacy", v1=True), x, results)


def recurrent():
    n = networks.Net("recurrent")
    n.input("x", (4, 2, 3))
    n.input("cont", (4, 2))
    w, b, wh = n.weights(20, 3), n.weights(20, scale=0.1), n.weights(20, 5)
    n.layer("LSTM", ["x", "cont"], "lstm", "recurrent_param { num_output: 5 }", [w, b, wh])
    x, cont = numbers(4, 2, 3), np.array([[0, 0], [1, 1], [1, 0], [1, 1]], np.float32)
    write("recurrent", n.text(), caffemodel(n.blobs), {"x": x, "cont": cont}, {"lstm": lstm(x, cont, w, b, wh)[0].astype(np.float32)})


def detector():
    """OpenCV orders detections by score, Caffe by class."""
    n = networks.Chain("detector")
    x = n.conv_relu(n.data(3, 24, 24), "conv1", 8, 3, 4, 1)
    loc, conf = n.conv(x, "loc", 16, 1), n.conv(x, "conf", 12, 1)
    n.blobs["conf"][1][0] *= 1.5
    for name in (loc, conf):
        n.layer("Permute", name, f"{name}_perm", "permute_param { order: 0 order: 2 order: 3 order: 1 }")
        n.layer("Flatten", f"{name}_perm", f"{name}_flat")
    n.layer("PriorBox", [x, "data"], "prior", "prior_box_param { min_size: 6 max_size: 10 aspect_ratio: 2 flip: true clip: false "
                                              "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }")
    n.layer("Reshape", "conf_flat", "conf_rows", "reshape_param { shape { dim: 0 dim: -1 dim: 3 } }")
    n.layer("Softmax", "conf_rows", "conf_prob", "softmax_param { axis: 2 }")
    n.layer("Flatten", "conf_prob", "conf_out")
    n.layer("DetectionOutput", ["loc_flat", "conf_out", "prior"], "found",
            "detection_output_param { num_classes: 3 share_location: true background_label_id: 0 nms_param { nms_threshold: 0.45 top_k: 50 } "
            "code_type: CENTER_SIZE keep_top_k: 10 confidence_threshold: 0.3 }")
    x = {"data": numbers(1, 3, 24, 24)}
    with tempfile.TemporaryDirectory() as folder:
        rows = opencv(*n.write(folder), x, ["found"])["found"].reshape(-1, 7)
    rows = rows[rows[:, 2] > 0]
    rows = rows[np.lexsort((-rows[:, 2], rows[:, 1]))]
    write("detector", n.text(), caffemodel(n.blobs), x, {"found": rows.reshape(1, 1, -1, 7)})


if __name__ == "__main__":
    from_opencv("classifier", classifier(), {"data": numbers(1, 3, 15, 13)}, ["prob"])
    from_opencv("residual", residual(), {"data": numbers(1, 3, 12, 12)}, ["prob"])
    from_opencv("depthwise", depthwise(), {"data": numbers(1, 3, 12, 12)}, ["prob"])
    from_opencv("three_branches", three_branches(), {"data": numbers(1, 3, 8, 8)}, ["out"])
    from_opencv("upsampling", upsampling(), {"data": numbers(1, 3, 10, 10)}, ["prob"])
    old_format()
    recurrent()
    detector()
