"""ai.onnx.ml: tree ensembles, evaluated node by node."""

from collections import defaultdict

import numpy as np
from onnx import TensorProto, numpy_helper

from . import model

COMPARE = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater,
           "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}
MODES = list(COMPARE)  # in version 5, a mode is an index into this list
AGGREGATES = ["AVERAGE", "SUM", "MIN", "MAX"]


def numbers(attrs, name):
    """Returns the numbers of the attribute `name` (a list of floats) or of the attribute `name`_as_tensor. A model has
    at most one of the two."""
    value = attrs.get(f"{name}_as_tensor", attrs.get(name))
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def goes_true(mode, value, threshold, tracks):
    return bool(COMPARE[mode](value, threshold)) or bool(tracks and np.isnan(value))


def leaf_of(attrs, index, values, tree, row):
    tracks, node = attrs.get("nodes_missing_value_tracks_true"), 0
    while True:
        at = index[tree, node]
        mode = attrs["nodes_modes"][at]
        if mode == "LEAF":
            return node
        value = row[attrs["nodes_featureids"][at]]
        taken = goes_true(mode, value, row.dtype.type(values[at]), tracks and tracks[at])
        node = attrs["nodes_truenodeids" if taken else "nodes_falsenodeids"][at]


def combined(scores, how, trees):
    if not scores:
        return 0.0
    return {"SUM": sum(scores), "AVERAGE": sum(scores) / trees, "MIN": min(scores), "MAX": max(scores)}[how]


@model("ai.onnx.ml.TreeEnsembleRegressor")
def tree_ensemble_regressor(case):
    attrs, x = case.attrs, case.args[0]
    if attrs.get("post_transform", "NONE") != "NONE":
        return None
    index = {key: i for i, key in enumerate(zip(attrs["nodes_treeids"], attrs["nodes_nodeids"]))}
    leaves = defaultdict(list)
    for tree, node, target, weight in zip(attrs["target_treeids"], attrs["target_nodeids"], attrs["target_ids"],
                                          numbers(attrs, "target_weights")):
        leaves[tree, node].append((target, float(weight)))
    trees, values, base = sorted(set(attrs["nodes_treeids"])), numbers(attrs, "nodes_values"), numbers(attrs, "base_values")
    y = np.zeros((len(x), attrs["n_targets"]))
    for r, row in enumerate(x):
        scores = defaultdict(list)
        for tree in trees:
            for target, weight in leaves[tree, leaf_of(attrs, index, values, tree, row)]:
                scores[target].append(weight)
        for t in range(attrs["n_targets"]):
            y[r, t] = combined(scores[t], attrs.get("aggregate_function", "SUM"), len(trees)) + (0 if base is None else base[t])
    return [y.astype(np.float32)]


def transformed(scores, kind):
    """Applies post_transform of version 5: 0 is none, 1 softmax, 2 logistic."""
    if kind == 1:
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return raised / raised.sum(axis=1, keepdims=True)
    return 1 / (1 + np.exp(-scores)) if kind == 2 else scores


@model("ai.onnx.ml.TreeEnsemble")
def tree_ensemble(case):
    attrs, x = case.attrs, case.args[0]
    splits, modes, weights = (numpy_helper.to_array(attrs[n]) for n in ("nodes_splits", "nodes_modes", "leaf_weights"))
    tracks = attrs.get("nodes_missing_value_tracks_true")
    how = AGGREGATES[attrs.get("aggregate_function", 1)]
    y = np.zeros((len(x), attrs["n_targets"]), x.dtype)
    for r, row in enumerate(x):
        scores = defaultdict(list)
        for node in attrs["tree_roots"]:
            leaf = False
            while not leaf:
                value = row[attrs["nodes_featureids"][node]]
                side = "true" if goes_true(MODES[modes[node]], value, splits[node], tracks and tracks[node]) else "false"
                leaf, node = attrs[f"nodes_{side}leafs"][node], attrs[f"nodes_{side}nodeids"][node]
            scores[attrs["leaf_targetids"][node]].append(float(weights[node]))
        y[r] = [combined(scores[t], how, len(attrs["tree_roots"])) for t in range(attrs["n_targets"])]
    return [transformed(y, attrs.get("post_transform", 0)).astype(x.dtype)]
