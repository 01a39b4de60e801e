"""ai.onnx.ml: encoders, scalers and maps."""

from functools import partial

import numpy as np

from fuzz.registry import ML, op
from fuzz.values import Map

ml = partial(op, domain=ML)
WORDS = ["a", "b", "tern", "gull", "", "é"]


def rows(d, dtype, features=None, **how):
    return d.tensor(dtype, [d.int(1, 5), features or d.int(1, 5)], **how)


@ml("ArrayFeatureExtractor")
def array_feature_extractor(d):
    dtype = d.dtype("T", without=("float16",))
    shape = d.shape(1, 3, zero=0)
    picks = d.tensor("int64", [d.int(1, 4)], low=0, high=shape[-1] - 1)
    return d.case([d.tensor(dtype, shape), picks])


@ml("Binarizer")
def binarizer(d):
    return d.case([d.tensor("float", d.shape(1, 3))], {"threshold": d.maybe(d.uniform(-1, 1))})


@ml("CastMap", weight=0.5)
def cast_map(d):
    # onnxruntime's Python binding accepts only maps whose values are float or int64.
    items = {k: d.uniform(-3, 3) for k in d.subset(list(range(6)), at_least=1)}
    attrs = {"cast_to": d.choice(["TO_FLOAT", "TO_STRING", "TO_INT64"])}
    if d.chance(0.5):
        attrs |= {"map_form": "SPARSE", "max_map": 7}
    if attrs["cast_to"] == "TO_STRING":  # the number of digits that a fraction prints is not defined
        items = {k: float(int(v)) for k, v in items.items()}
    return d.case([Map("int64", "float", items)], attrs)


@ml("CategoryMapper")
def category_mapper(d):
    text = d.chance(0.5)
    names = d.subset(["a", "b", "tern", "gull"], at_least=1)
    attrs = {"cats_strings": names, "cats_int64s": d.permutation(9)[: len(names)],
             "default_int64": d.maybe(d.int(-5, -1)), "default_string": d.maybe("none")}
    shape = d.shape(1, 3)
    x = d.tensor("string", shape, words=WORDS) if text else d.tensor("int64", shape, low=0, high=9)
    return d.case([x], attrs)


@ml("DictVectorizer", weight=0.5)
def dict_vectorizer(d):
    if d.chance(0.5):
        names = ["a", "b", "c", "d"]
        value = d.choice(["float", "int64"])
        items = {k: d.int(-9, 9) if value == "int64" else d.uniform(-3, 3) for k in d.subset(names, at_least=1)}
        return d.case([Map("string", value, items)], {"string_vocabulary": names})
    items = {k: d.uniform(-3, 3) for k in d.subset([1, 3, 5, 7], at_least=1)}
    return d.case([Map("int64", "float", items)], {"int64_vocabulary": [1, 3, 5, 7]})


@ml("FeatureVectorizer")
def feature_vectorizer(d):
    dtype = d.dtype("T1", without=("float16",))
    batch = d.int(1, 3)
    widths = [d.int(1, 4) for _ in range(d.int(1, 3))]
    return d.case([d.tensor(dtype, [batch, w]) for w in widths], {"inputdimensions": widths})


@ml("Imputer")
def imputer(d):
    dtype = d.dtype("T", without=("float16",))
    features = d.int(1, 4)
    count = d.choice([1, features])
    x = rows(d, dtype, features, low=-2, high=2)
    if dtype == "int64":
        return d.case([x], {"imputed_value_int64s": [d.int(10, 20) for _ in range(count)], "replaced_value_int64": d.int(-2, 2)})
    missing = d.choice([float("nan"), 0.0])
    x = np.where(d.tensor("bool", x.shape, p=0.3), np.float32(missing), x)
    attrs = {"imputed_value_floats": [d.uniform(10, 20) for _ in range(count)], "replaced_value_float": missing}
    return d.case([x], attrs)


def label_pairs(d, source, target):
    """Returns keys of the type `source` and as many values of the type `target`, for LabelEncoder."""
    made = {"string": lambda n: [f"k{i}" for i in range(n)], "int64": lambda n: d.permutation(20)[:n],
            "float": lambda n: [float(i) + 0.5 for i in d.permutation(20)[:n]]}
    count = d.int(1, 5)
    return made[source](count), made[target](count)


def label_input(d, source, keys):
    other = {"string": "other", "int64": 99, "float": 99.5}[source]
    pool = [*keys, other]
    shape = d.shape(1, 3)
    picks = d.tensor("int64", shape, low=0, high=len(pool) - 1)
    kind = {"string": object, "int64": np.int64, "float": np.float32}[source]
    return np.array(pool, dtype=kind)[picks]


@ml("LabelEncoder", weight=2, since=(1, 2, 4))
def label_encoder(d):
    if d.since == 1:
        names = d.subset(["a", "b", "tern", "gull"], at_least=1)
        attrs = {"classes_strings": names, "default_int64": d.maybe(-7), "default_string": d.maybe("none")}
        text = d.chance(0.5)
        x = d.tensor("string", d.shape(1, 3), words=WORDS) if text else d.tensor("int64", d.shape(1, 3), low=0, high=4)
        return d.case([x], attrs)
    source, target = d.choice(["string", "int64", "float"]), d.choice(["string", "int64", "float"])
    if source == target == "float" and d.since < 4:
        target = "int64"
    keys, values = label_pairs(d, source, target)
    default = {"string": ("default_string", "none"), "int64": ("default_int64", -7), "float": ("default_float", -7.5)}[target]
    attrs = {f"keys_{source}s": keys, f"values_{target}s": values, default[0]: d.maybe(default[1])}
    return d.case([label_input(d, source, keys)], attrs)


@ml("Normalizer")
def normalizer(d):
    dtype = d.dtype("T", without=("float16",))
    return d.case([rows(d, dtype, low=1, high=9)], {"norm": d.choice(["MAX", "L1", "L2"])})


@ml("OneHotEncoder")
def one_hot_encoder(d):
    dtype = d.choice(["string", "int64", "float", "double"])
    shape = d.shape(1, 2, zero=0)
    if dtype == "string":
        cats = {"cats_strings": d.subset(WORDS[:4], at_least=1)}
        x = d.tensor(dtype, shape, words=WORDS)
    else:
        cats = {"cats_int64s": d.permutation(6)[: d.int(1, 5)]}
        x = np.floor(d.tensor(dtype, shape, low=0, high=6)).astype(d.tensor(dtype, []).dtype)
    return d.case([x], {**cats, "zeros": d.maybe(1, 0.7)})


@ml("Scaler")
def scaler(d):
    features = d.int(1, 4)
    count = d.choice([1, features])
    attrs = {"offset": [d.uniform(-1, 1) for _ in range(count)], "scale": [d.uniform(0.1, 2) for _ in range(count)]}
    return d.case([rows(d, d.dtype("T", without=("float16",)), features)], attrs)


@ml("ZipMap", weight=0.5)
def zip_map(d):
    classes = d.int(1, 4)
    x = d.tensor("float", [d.int(1, 3), classes])
    if d.chance(0.5):
        return d.case([x], {"classlabels_strings": [f"c{i}" for i in range(classes)]})
    return d.case([x], {"classlabels_int64s": d.permutation(9)[:classes]})
