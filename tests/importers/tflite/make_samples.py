"""Writes the stored models of samples/, with the results of LiteRT's fast kernels. Run it in the environment of requirements.txt."""

import pathlib

import flatbuffers.flexbuffers as flex
import numpy as np
from lite import interpreter, names_of, run_lite
from writer import Graph, Operator, Writer, const, options
from writer import Tensor as T

RNG = np.random.default_rng(11)
HERE = pathlib.Path(__file__).resolve().parent / "samples"


def floats(*shape):
    return T(shape, "float32", RNG.standard_normal(shape).astype("float32") * 0.4)


def ints(shape, dtype, q, low=-127, high=127):
    return T(shape, dtype, RNG.integers(low, high, shape), q=q)


def conv_network():
    """Two convolutions, a sum and pooling, as floats."""
    x, a, b, s, y = T([1, 8, 8, 3], name="image"), T([1, 8, 8, 4]), T([1, 8, 8, 4]), T([1, 8, 8, 4]), T([1, 4], name="scores")
    same = options("Conv2DOptions", strideW=1, strideH=1, fusedActivationFunction=3)
    depthwise = options("DepthwiseConv2DOptions", strideW=1, strideH=1, depthMultiplier=1, fusedActivationFunction=1)
    ops = [Operator("CONV_2D", [x, floats(4, 3, 3, 3), floats(4)], [a], same), Operator("DEPTHWISE_CONV_2D", [a, floats(1, 3, 3, 4), floats(4)], [b], depthwise),
           Operator("ADD", [a, b], [s], options("AddOptions")), Operator("MEAN", [s, const([1, 2])], [y], options("ReducerOptions", keepDims=False))]
    return Writer([Graph(ops, [x], [y])])


def conv_int8():
    x, a, y = T([1, 8, 8, 3], "int8", q=(0.05, -3), name="image"), T([1, 4, 4, 5], "int8", q=(0.2, 7)), T([1, 6], "int8", q=(0.5, -9), name="scores")
    scales = list(RNG.uniform(0.005, 0.02, 5))
    ops = [Operator("CONV_2D", [x, ints([5, 3, 3, 3], "int8", (scales, [0] * 5, 0)), ints([5], "int32", ([0.05 * s for s in scales], [0] * 5, 0), -300, 300)], [a],
                    options("Conv2DOptions", strideW=2, strideH=2, fusedActivationFunction=1)),
           Operator("FULLY_CONNECTED", [a, ints([6, 80], "int8", (0.01, 0)), ints([6], "int32", (0.002, 0), -300, 300)], [y], options("FullyConnectedOptions"))]
    return Writer([Graph(ops, [x], [y])])


def hybrid():
    x, y = T([2, 16], name="x"), T([2, 6], name="y")
    op = Operator("FULLY_CONNECTED", [x, ints([6, 16], "int8", (0.01, 0)), floats(6)], [y], options("FullyConnectedOptions", asymmetricQuantizeInputs=True))
    return Writer([Graph([op], [x], [y])])


def lstm():
    x, y = T([1, 5, 3], name="x"), T([1, 5, 4], name="y")
    inputs = [x, *[floats(4, 3) for _ in range(4)], *[floats(4, 4) for _ in range(4)], None, None, None, *[floats(4) for _ in range(4)], None, None,
              T([1, 4], variable=True, name="h"), T([1, 4], variable=True, name="c")]
    return Writer([Graph([Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4))], [x], [y])])


def loop():
    i, x = T([], "int32", name="i", low=0, high=3), T([3], name="x")
    i2, x2, less = T([], "int32"), T([3]), T([], "bool")
    i3, x3, i4, x4 = T([], "int32"), T([3]), T([], "int32"), T([3])
    ri, rx = T([], "int32", name="count"), T([3], name="power")
    op = Operator("WHILE", [i, x], [ri, rx], options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2))
    body = [Operator("ADD", [i3, const(1)], [i4], options("AddOptions")), Operator("MUL", [x3, const(1.5, "float32")], [x4], options("MulOptions"))]
    return Writer([Graph([op], [i, x], [ri, rx]), Graph([Operator("LESS", [i2, const(5)], [less])], [i2, x2], [less], "cond"), Graph(body, [i3, x3], [i4, x4], "body")])


def variable():
    """Adds its input to a variable, which starts as (10, 20)."""
    x, before, after = T([2], name="x"), T([2]), T([2], name="sum")
    handles = [T([], "resource") for _ in range(2)]
    makes = [Operator("VAR_HANDLE", [], [h], options("VarHandleOptions", container="", sharedName="sum")) for h in handles]
    main = [Operator("CALL_ONCE", [], [], options("CallOnceOptions", initSubgraphIndex=1)), makes[0], Operator("READ_VARIABLE", [handles[0]], [before]),
            Operator("ADD", [before, x], [after], options("AddOptions")), Operator("ASSIGN_VARIABLE", [handles[0], after], [])]
    init = Graph([makes[1], Operator("ASSIGN_VARIABLE", [handles[1], const([10, 20], "float32")], [])], [], [], "init")
    return Writer([Graph(main, [x], [after]), init])


def detection():
    n = 20
    anchors = np.concatenate([RNG.uniform(0, 1, [n, 2]), RNG.uniform(0.1, 0.3, [n, 2])], 1).astype("float32")
    fields = {"max_detections": 4, "max_classes_per_detection": 1, "nms_score_threshold": 0.1, "nms_iou_threshold": 0.4, "num_classes": 2,
              "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    boxes, scores = T([1, n, 4], name="boxes"), T([1, n, 3], name="scores", low=0, high=1)
    outputs = [T([1, 4, 4], name="corners"), T([1, 4], name="classes"), T([1, 4], name="best"), T([1], name="count")]
    op = Operator("CUSTOM:TFLite_Detection_PostProcess", [boxes, scores, T([n, 4], "float32", anchors)], outputs, None, bytes(flex.Dumps(fields)))
    return Writer([Graph([op], [boxes, scores], outputs)])


def resize_and_pad():
    x, a, y = T([1, 4, 5, 2], name="image"), T([1, 8, 9, 2]), T([1, 10, 12, 2], name="framed")
    ops = [Operator("RESIZE_BILINEAR", [x, const([8, 9])], [a], options("ResizeBilinearOptions", halfPixelCenters=True)),
           Operator("MIRROR_PAD", [a, const([[0, 0], [1, 1], [2, 1], [0, 0]])], [y], options("MirrorPadOptions", mode=1))]
    return Writer([Graph(ops, [x], [y])])


def main():
    for make in (conv_network, conv_int8, hybrid, lstm, loop, variable, detection, resize_and_pad):
        folder = HERE / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        writer = make()
        (folder / "model.tflite").write_bytes(writer.bytes())
        lite = interpreter(folder / "model.tflite", reference=False)
        arrays = [t.random(RNG) for t in writer.graphs[0].inputs]
        inputs, outputs = names_of(lite)
        results = run_lite(lite, arrays)
        np.savez(folder / "data.npz", **{f"in.{k}": v for k, v in zip(inputs, arrays)}, **{f"out.{k}": v for k, v in zip(outputs, results)})


if __name__ == "__main__":
    main()
