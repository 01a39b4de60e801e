"""ai.onnx.ml: linear models, support vectors and trees."""

from functools import partial

import numpy as np

from fuzz.registry import ML, op
from fuzz.values import tensor_proto

ml = partial(op, domain=ML)
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


def numbers(d, count, low=-1, high=1):
    return [d.uniform(low, high) for _ in range(count)]


def labels(d, classes):
    if d.chance(0.5):
        return {"strings": [f"c{i}" for i in range(classes)]}
    return {"ints": d.permutation(9)[:classes]}


def class_labels(d, classes, prefix="classlabels_"):
    return {prefix + k: v for k, v in labels(d, classes).items()}


@ml("LinearClassifier", weight=2)
def linear_classifier(d):
    classes, features = d.int(2, 4), d.int(1, 4)
    binary = d.chance(0.3)
    rows = 1 if binary else classes
    if binary:
        classes = 2
    names = class_labels(d, classes)
    attrs = {**names, "coefficients": numbers(d, rows * features), "intercepts": numbers(d, rows),
             "multi_class": d.maybe(0), "post_transform": d.maybe(d.choice(TRANSFORMS))}
    x = d.tensor(d.dtype("T1", without=("float16",)), [d.int(1, 5), features])
    return d.case([x], attrs, outputs=2)


@ml("LinearRegressor")
def linear_regressor(d):
    targets, features = d.int(1, 3), d.int(1, 4)
    attrs = {"coefficients": numbers(d, targets * features), "intercepts": d.maybe(numbers(d, targets)),
             "targets": targets if targets > 1 else d.maybe(1), "post_transform": d.maybe(d.choice(TRANSFORMS), 0.3)}
    return d.case([d.tensor("float", [d.int(1, 5), features])], attrs)


def kernel(d):
    kind = d.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])
    return {"kernel_type": kind, "kernel_params": [d.uniform(0.1, 1), d.uniform(0, 1), float(d.int(1, 3))]}


@ml("SVMRegressor")
def svm_regressor(d):
    features, vectors = d.int(1, 4), d.int(1, 5)
    attrs = {**kernel(d), "coefficients": numbers(d, vectors), "support_vectors": numbers(d, vectors * features),
             "n_supports": vectors, "rho": numbers(d, 1), "one_class": d.maybe(d.int(0, 1), 0.3)}
    return d.case([d.tensor("float", [d.int(1, 5), features])], attrs, scale=10)


@ml("SVMClassifier", weight=2)
def svm_classifier(d):
    classes, features = d.int(2, 4), d.int(1, 4)
    each = [d.int(1, 3) for _ in range(classes)]
    total, pairs = sum(each), classes * (classes - 1) // 2
    attrs = {**kernel(d), **class_labels(d, classes), "vectors_per_class": each,
             "support_vectors": numbers(d, total * features), "coefficients": numbers(d, (classes - 1) * total),
             "rho": numbers(d, pairs), "post_transform": d.maybe(d.choice(TRANSFORMS), 0.3)}
    if d.chance(0.4):
        attrs |= {"prob_a": numbers(d, pairs, -2, -0.5), "prob_b": numbers(d, pairs)}
    x = d.tensor(d.dtype("T1", only=("float", "double")), [d.int(1, 5), features])
    return d.case([x], attrs, outputs=2, scale=10)


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def grow(d, depth, table, tree, features, mode):
    """Adds a random tree to the table of nodes. Returns the id of its root and the ids of its leaves."""
    number = sum(1 for t in table["treeids"] if t == tree)
    leaf = depth == 0 or d.chance(0.25)
    for name, value in (("treeids", tree), ("nodeids", number), ("truenodeids", 0), ("falsenodeids", 0),
                        ("featureids", 0 if leaf else d.int(0, features - 1)),
                        ("values", 0.0 if leaf else float(np.float32(round(d.uniform(-1.5, 1.5) * 4) / 4))),
                        ("modes", "LEAF" if leaf else mode or d.choice(MODES)),
                        ("missing_value_tracks_true", 0 if leaf else d.int(0, 1))):
        table[name].append(value)
    at = len(table["treeids"]) - 1
    if leaf:
        return number, [number]
    table["truenodeids"][at], left = grow(d, depth - 1, table, tree, features, mode)
    table["falsenodeids"][at], right = grow(d, depth - 1, table, tree, features, mode)
    return number, left + right


def forest(d, features):
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")
    table = {n: [] for n in names}
    mode = d.choice(["BRANCH_LEQ", "BRANCH_LT", None])  # if None, each node draws its mode
    leaves = []
    for tree in range(d.int(1, 4)):
        _, found = grow(d, d.int(1, 3), table, tree, features, mode)
        leaves += [(tree, node) for node in found]
    if d.chance(0.5):
        del table["missing_value_tracks_true"]
    return {f"nodes_{k}": v for k, v in table.items()}, leaves


def leaf_weights(d, leaves, prefix, outputs):
    """Returns attributes with one or two weights per leaf. Each weight belongs to one class or target."""
    rows = [(t, n, d.int(0, outputs - 1), d.uniform(-1, 1)) for t, n in leaves for _ in range(d.choice([1, 1, 2]))]
    rows = list({r[:3]: r for r in rows}.values())
    return {f"{prefix}_{name}": [r[i] for r in rows] for i, name in enumerate(("treeids", "nodeids", "ids", "weights"))}


def tree_input(d, features, dtype):
    """Returns an input of multiples of 1/4. Thresholds are multiples of 1/4 too, so that some values equal a threshold.
    Some inputs contain NaN, which means a missing value."""
    x = np.round(d.tensor("float", [d.int(1, 6), features]) * 4) / 4
    if d.chance(0.3):
        x[d.tensor("bool", x.shape, p=0.2)] = np.nan
    return x.astype(d.tensor(dtype, []).dtype)


def as_tensors(d, attrs, dtype, base=None):
    """Replaces lists of floats by tensors of double. Version 3 of the operators introduced these attributes, and an
    input of type double requires them."""
    for name in ("nodes_values", "class_weights", "target_weights", "base_values"):
        if name in attrs:
            attrs[f"{name}_as_tensor"] = tensor_proto(np.array(attrs.pop(name), dtype=np.float64))
    return attrs


@ml("TreeEnsembleRegressor", weight=3)
def tree_ensemble_regressor(d):
    features, targets = d.int(1, 4), d.int(1, 3)
    attrs, leaves = forest(d, features)
    attrs |= leaf_weights(d, leaves, "target", targets)
    attrs |= {"n_targets": targets, "aggregate_function": d.maybe(d.choice(["SUM", "AVERAGE", "MIN", "MAX"]), 0.7)}
    if d.chance(0.4):
        attrs["base_values"] = numbers(d, targets)
    if d.chance(0.2):
        attrs["post_transform"] = d.choice(["NONE", "SOFTMAX", "LOGISTIC"])
    dtype = "double" if d.since >= 3 and d.chance(0.3) else "float"
    if dtype == "double":
        attrs = as_tensors(d, attrs, dtype)
    return d.case([tree_input(d, features, dtype)], attrs, rtol=1e-4, atol=1e-6)


@ml("TreeEnsembleClassifier", weight=3)
def tree_ensemble_classifier(d):
    features, classes = d.int(1, 4), d.int(2, 4)
    attrs, leaves = forest(d, features)
    names = class_labels(d, classes)
    attrs |= {"classlabels_int64s" if k.endswith("ints") else k: v for k, v in names.items()}
    attrs |= leaf_weights(d, leaves, "class", classes)
    if d.chance(0.3):
        attrs["base_values"] = numbers(d, classes)
    attrs["post_transform"] = d.maybe(d.choice(TRANSFORMS))
    dtype = d.choice(["float", "float", "double", "int32", "int64"])
    x = tree_input(d, features, "float")
    x = np.nan_to_num(x) if dtype.startswith("int") else x
    return d.case([x.astype(d.tensor(dtype, []).dtype)], attrs, outputs=2, rtol=1e-4, atol=1e-6)


@ml("TreeEnsemble", weight=3, since=(5,))
def tree_ensemble(d):
    """Returns a case of version 5, in which interior nodes and leaves are separate and each leaf has one target."""
    features, targets = d.int(1, 4), d.int(1, 3)
    dtype = d.choice(["float", "double"])
    kind = np.float32 if dtype == "float" else np.float64
    nodes, leaves, roots = [], [], []
    for _ in range(d.int(1, 3)):
        roots.append(len(nodes))
        split(d, d.int(1, 3), nodes, leaves, features, targets)
    column = lambda name: [n[name] for n in nodes]  # noqa: E731
    attrs = {"tree_roots": roots, "n_targets": targets, "aggregate_function": d.maybe(d.int(0, 3), 0.7),
             "post_transform": d.maybe(d.choice([0, 1, 2])), "nodes_featureids": column("feature"),
             "nodes_modes": tensor_proto(np.array(column("mode"), np.uint8)),
             "nodes_splits": tensor_proto(np.array(column("value"), kind)),
             "nodes_truenodeids": column("true"), "nodes_falsenodeids": column("false"),
             "nodes_trueleafs": column("true_leaf"), "nodes_falseleafs": column("false_leaf"),
             "leaf_targetids": [t for t, _ in leaves],
             "leaf_weights": tensor_proto(np.array([w for _, w in leaves], kind))}
    if d.chance(0.4):
        attrs["nodes_missing_value_tracks_true"] = [d.int(0, 1) for _ in nodes]
    return d.case([tree_input(d, features, dtype)], attrs, rtol=1e-4, atol=1e-6)


def split(d, depth, nodes, leaves, features, targets):
    at = len(nodes)
    nodes.append({"feature": d.int(0, features - 1), "mode": d.int(0, 5), "value": round(d.uniform(-1.5, 1.5) * 4) / 4})
    for side in ("true", "false"):
        leaf = depth == 1 or d.chance(0.3)
        nodes[at][f"{side}_leaf"] = int(leaf)
        if leaf:
            nodes[at][side] = len(leaves)
            leaves.append((d.int(0, targets - 1), d.uniform(-1, 1)))
        else:
            nodes[at][side] = len(nodes)
            split(d, depth - 1, nodes, leaves, features, targets)
