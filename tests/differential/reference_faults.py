"""Lists faults of onnx.reference 1.22 that `--engine reference` shows for operators without a numpy model.

onnxruntime is right in all these cases. The list is therefore not used when Tern is tested. Cases that onnx.reference
cannot run count as unsupported and are not listed."""

import numpy as np

from fuzz.difference import Known, always


def fault(ops, reason, when=always):
    return Known(ops if isinstance(ops, list) else [ops], reason, when)


def dtype(*names):
    return lambda case: case.dtypes[0] in names


ENTRIES = [
    fault("LayerNormalization", "returns the statistics in the input's type", lambda c: len(c.outputs) == 3),
    fault("Dropout", "returns float for float16", dtype("float16")),
    fault("ReduceSumSquare", "widens int32", dtype("int32")),
    fault("Optional", "wraps the value in a list"),
    fault("Softplus", "overflows", lambda c: bool(np.any(c.args[0].astype(np.float64) > 80))),
    fault("Cast", "casts any string to true", lambda c: c.dtypes[0] == "string" and c.attrs["to"] == 9),
    fault("CastLike", "casts any string to true", lambda c: c.dtypes[:2] == ["string", "bool"]),
    fault(["ai.onnx.ml.DictVectorizer", "ai.onnx.ml.FeatureVectorizer", "ai.onnx.ml.Normalizer", "ai.onnx.ml.Scaler"],
          "the output has the input's type; the specification requires float"),
    fault(["ai.onnx.ml.LinearClassifier", "ai.onnx.ml.SVMClassifier", "ai.onnx.ml.TreeEnsembleClassifier"],
          "computes wrong binary scores, post transforms and output types"),
    fault("ai.onnx.ml.LinearRegressor", "adds NaN when there are no intercepts", lambda c: "intercepts" not in c.attrs),
    fault(["ai.onnx.ml.TreeEnsembleRegressor", "ai.onnx.ml.TreeEnsemble"], "skips post transforms"),
]
