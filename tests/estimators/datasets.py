"""Training and test data of the estimators. The seeds are fixed, so that the data is the same on every machine."""

import dataclasses
import functools

import numpy as np

TRAIN, TEST, FEATURES = 160, 60, 6
LABELS = np.array(["setosa", "versicolor", "virginica", "übrige"])
WORDS = ("tern gull wave harbour north wind storm sand shell island ferry rope anchor chart compass lantern salt spray "
         "tide moon").split()


@dataclasses.dataclass(frozen=True)
class Data:
    train: object               # the first argument of fit
    target: object              # the second argument of fit; None for unsupervised estimators
    test: dict                  # maps the name of an input of the model to an array
    frame: bool = False         # the model has several named inputs


def split(x, y, name="X"):
    return Data(x[:TRAIN], None if y is None else y[:TRAIN], {name: x[TRAIN:]})


def numbers(seed):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(TRAIN + TEST, FEATURES)).astype(np.float32)


def classes(count, text=False, seed=3):
    rng, x = numbers(seed)
    centres = rng.normal(size=(count, FEATURES)) * 1.5
    y = rng.integers(0, count, size=len(x))
    x = (x + centres[y]).astype(np.float32)
    return split(x, LABELS[y] if text else y)


def strange_labels():
    data = classes(3)
    return dataclasses.replace(data, target=np.array([-5, 12, 7])[data.target])


def regression(outputs=1, positive=False, seed=5):
    rng, x = numbers(seed)
    y = np.sin(x @ rng.normal(size=(FEATURES, outputs))) + 0.1 * rng.normal(size=(len(x), outputs)) + x[:, :1]
    y = np.exp(y * 0.5) if positive else y
    return split(x, y[:, 0] if outputs == 1 else y)


def counts(text=False):
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, size=TRAIN + TEST)
    x = rng.poisson(1 + 3 * rng.random((3, FEATURES))[y]).astype(np.float32)
    return split(x, LABELS[y] if text else y)


def flags(text=False):
    data = counts(text)
    return Data((data.train > 1).astype(np.float32), data.target, {"X": (data.test["X"] > 1).astype(np.float32)})


def whole_numbers(text=False):
    data = counts(text)
    return Data(data.train.astype(np.int64), data.target, {"X": data.test["X"].astype(np.int64)})


def positive_inputs():
    data = classes(3)
    return Data(np.exp(data.train / 2), data.target, {"X": np.exp(data.test["X"] / 2)})


def labels_per_row():
    data = classes(4)
    return dataclasses.replace(data, target=np.stack([data.target % 2, data.target // 2], axis=1))


def multi_output():
    data = classes(4)
    return dataclasses.replace(data, target=np.stack([data.target, data.target % 3], axis=1))


def missing():
    data = classes(3, seed=4)
    rng = np.random.default_rng(13)
    for x in (data.train, data.test["X"]):
        x[rng.random(x.shape) < 0.1] = np.nan
    return data


def sentences(as_column=False):
    rng = np.random.default_rng(17)
    y = rng.integers(0, 3, size=TRAIN + TEST)
    text = np.array([" ".join(rng.choice(WORDS[6 * c:6 * c + 9], size=rng.integers(2, 9))) for c in y], dtype=object)
    text[TRAIN + 3] = "Tern, GULL; wave-harbour's 42 Öre"
    return split(text.reshape(-1, 1), y) if as_column else Data(text[:TRAIN], y[:TRAIN], {"X": text[TRAIN:].reshape(-1, 1)})


def categories(whole=False):
    rng = np.random.default_rng(19)
    if whole:
        x = rng.integers(0, 5, size=(TRAIN + TEST, 3)).astype(np.int64)
    else:
        x = np.array(WORDS, dtype=object)[rng.integers(0, 5, size=(TRAIN + TEST, 3))]
    y = rng.integers(0, 3, size=len(x))
    data = split(x, y)
    data.test["X"][0] = 99 if whole else "unseen"
    return data


def frame():
    """Returns a data frame with columns of several types. Each column is a separate input of the model."""
    import pandas
    rng = np.random.default_rng(23)
    rows = TRAIN + TEST
    table = {"age": rng.normal(40, 12, rows).astype(np.float32), "fare": rng.gamma(2, 20, rows).astype(np.float32),
             "port": np.array(WORDS, dtype=object)[rng.integers(0, 4, rows)],
             "cabin": np.array(WORDS, dtype=object)[rng.integers(8, 14, rows)]}
    y = ((table["age"] > 38).astype(int) + (table["fare"] > 40)).astype(int)
    table["age"][::17] = np.nan
    whole = pandas.DataFrame(table)
    return Data(whole[:TRAIN], y[:TRAIN], {k: v[TRAIN:].reshape(-1, 1) for k, v in table.items()}, frame=True)


DATA = {
    "binary": lambda: classes(2), "binary_text": lambda: classes(2, True),
    "multi": lambda: classes(3), "multi_text": lambda: classes(3, True),
    "four": lambda: classes(4), "four_text": lambda: classes(4, True),
    "strange": strange_labels,
    "counts": counts, "counts_text": lambda: counts(True),
    "flags": flags, "flags_text": lambda: flags(True),
    "whole": whole_numbers, "whole_text": lambda: whole_numbers(True),
    "regression": regression, "positive": lambda: regression(positive=True), "two": lambda: regression(2),
    "positive_inputs": positive_inputs,
    "labels": labels_per_row, "multi_output": multi_output, "missing": missing,
    "sentences": sentences, "column": lambda: sentences(True),
    "categories": categories, "categories_whole": lambda: categories(True),
    "categories_binary": lambda: dataclasses.replace(categories(), target=categories().target % 2),
    "frame": frame,
}


@functools.cache
def load(name):
    return DATA[name]()
