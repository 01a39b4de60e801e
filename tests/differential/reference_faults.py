"""Faults of onnx.reference 1.22 that `--engine reference` meets; onnxruntime is right in all of them.

These never excuse Tern. What the reference cannot run at all counts as unsupported and is not listed."""

import numpy as np

from fuzz.difference import Known, always

RECURRENT = ["RNN", "GRU", "LSTM"]
CONVOLUTIONS = ["Conv", "ConvInteger", "QLinearConv"]


def fault(ops, reason, when=always):
    return Known(ops if isinstance(ops, list) else [ops], reason, when)


def auto_pads(case):
    return case.attrs.get("auto_pad", "NOTSET") not in ("NOTSET", None)


def dtype(*names):
    return lambda case: case.dtypes[0] in names


def before(opset):
    return lambda case: case.opset < opset


ENTRIES = [
    fault(CONVOLUTIONS, "miscounts the output of auto_pad", auto_pads),
    fault("QLinearConv", "supports only two spatial axes", lambda c: c.args[0].ndim != 4),
    fault("ConvTranspose", "loses track of groups and biases"),
    fault(["AveragePool", "LpPool", "MaxPool"], "mistakes auto_pad and ceil_mode",
          lambda c: auto_pads(c) or c.attrs.get("ceil_mode")),
    fault("MaxPool", "mistakes asymmetric pads", lambda c: bool(c.attrs.get("pads"))),
    fault("MaxPool", "breaks ties differently within a window", lambda c: len(c.outputs) == 2),
    fault("GlobalMaxPool", "reduces only the last axes", lambda c: c.args[0].ndim != 4),
    fault(["Softmax", "LogSoftmax", "Hardmax"], "has no coerced 2-D form, which opsets before 13 define", before(13)),
    fault("LogSoftmax", "takes the logarithm of a softmax that has underflowed"),
    fault("BatchNormalization", "applies momentum in opset 9's inference", before(14)),
    fault("LpNormalization", "divides by the sum instead of the sum of magnitudes", lambda c: c.attrs.get("p") == 1),
    fault("LRN", "walks the batch where it should walk the channels"),
    fault("LayerNormalization", "returns the statistics in the input's type", lambda c: len(c.outputs) == 3),
    fault("Dropout", "returns float for float16 and computes in it", dtype("float16", "double")),
    fault(RECURRENT, "ignores direction, clip, activations and sequence lengths, and mixes up batches"),
    fault("GridSample", "clamps the sample instead of its neighbours in cubic mode",
          lambda c: c.attrs.get("mode") in ("cubic", "bicubic")),
    fault("AffineGrid", "returns float for double", dtype("double")),
    fault("RoiAlign", "applies opset 16's half pixel to opset 10", before(16)),
    fault("Attention", "turns causal and boolean masks together into NaN",
          lambda c: c.attrs.get("is_causal") and c.dtypes[3:4] == ["bool"]),
    fault("Attention", "returns scores after softcap in mode 0", lambda c: c.attrs.get("softcap")),
    fault("OneHot", "wraps indices that are out of range, where all should be off"),
    fault("Optional", "wraps the value in a list"),
    fault("SequenceInsert", "counts a position at the end as one from the start"),
    fault(["Loop"], "joins scan outputs along their first axis instead of stacking them"),
    fault("Slice", "slices as Python does, where the specification clamps a start that is out of range into it",
          lambda c: c.opset >= 10 and len(c.args) == 5 and c.args[4] is not None and bool((c.args[4] < 0).any())),
    fault("Shape", "does not clamp start and end"),
    fault("Unsqueeze", "inserts axes one at a time, in the order given", before(13)),
    fault("Unique", "orders by value although sorted is 0, or along the wrong axis", lambda c: c.attrs.get("sorted") == 0),
    fault("TensorScatter", "wraps before it writes in circular mode", lambda c: c.attrs.get("mode") == "circular"),
    fault("Gather", "drops the shape of empty results", lambda c: c.args[1].size == 0),
    fault("Gather", "mixes up strings", dtype("string")),
    fault("Softplus", "overflows", lambda c: bool(np.any(c.args[0].astype(np.float64) > 80))),
    fault("ReduceSumSquare", "widens int32", dtype("int32")),
    fault("RegexFullMatch", "matches with Python's Unicode rules, not RE2's"),
    fault("StringNormalizer", "drops empty strings and splits at spaces"),
    fault("TfIdfVectorizer", "looks weights up by output column instead of by n-gram"),
    fault("Cast", "takes any text for true", lambda c: c.dtypes[0] == "string" and c.attrs["to"] == 9),
    fault("Resize", "takes a size of 1 for a little more", lambda c: c.attrs.get("coordinate_transformation_mode") ==
          "pytorch_half_pixel" and len(c.args) == 4 and c.args[3] is not None and 1 in c.args[3]),
    fault("Cast", "prints floats as Python does", lambda c: c.attrs["to"] == 8),
    fault("CastLike", "prints floats as Python does", lambda c: c.dtypes[1] == "string"),
    fault(["ai.onnx.ml.DictVectorizer", "ai.onnx.ml.FeatureVectorizer", "ai.onnx.ml.Normalizer", "ai.onnx.ml.Scaler"],
          "keeps the input's type where the specification says float"),
    fault(["ai.onnx.ml.LinearClassifier", "ai.onnx.ml.SVMClassifier", "ai.onnx.ml.TreeEnsembleClassifier"],
          "differs in binary scores, post transforms and output types"),
    fault("ai.onnx.ml.LinearRegressor", "adds NaN when there are no intercepts", lambda c: "intercepts" not in c.attrs),
    fault(["ai.onnx.ml.TreeEnsembleRegressor", "ai.onnx.ml.TreeEnsemble"],
          "leaves the start value of MIN and MAX, and skips post transforms"),
]
