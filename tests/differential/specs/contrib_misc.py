"""com.microsoft: operators that belong to none of the other files."""

from functools import partial

import numpy as np

from fuzz.registry import CONTRIB, op

from .gather_scatter import nd_indices

ms = partial(op, domain=CONTRIB)


@ms("ExpandDims")
def expand_dims(d):
    shape = d.shape(0, 4)
    axis = d.int(-len(shape) - 1, len(shape))
    dtype = d.choice(["float", "int32", "int64", "bool", "string", "double"])
    return d.case([d.tensor(dtype, shape), d.scalar("int32", axis)])


@ms("GatherND")
def gather_nd(d):
    shape = d.shape(1, 4, zero=0)
    picks, _ = nd_indices(d, shape, 0, d.shape(0, 2, zero=0))
    picks = np.where(picks < 0, 0, picks).astype(d.choice([np.int32, np.int64]))
    return d.case([d.tensor(d.choice(["float", "int32", "int64", "string", "bool"]), shape), picks])


@ms("Pad")
def pad(d):
    mode = d.choice(["constant", "reflect", "edge"])
    shape = d.shape(1, 4, zero=0)
    limit = [max(n - 1, 0) if mode == "reflect" else 3 for n in shape]
    pads = d.ints([d.int(0, min(3, n)) for n in limit * 2])
    return d.case([d.tensor("float", shape), pads, d.maybe(d.tensor("float", [1]))], {"mode": d.maybe(mode) or mode})


@ms("Unique")
def unique(d):
    return d.case([np.round(d.tensor("float", [d.int(1, 9)], low=-3, high=3))], outputs=3)


@ms("GridSample")
def grid_sample(d):
    batch = d.int(1, 2)
    attrs = {"mode": d.maybe(d.choice(["bilinear", "nearest", "bicubic"])), "align_corners": d.maybe(d.int(0, 1)),
             "padding_mode": d.maybe(d.choice(["zeros", "border", "reflection"]))}
    x = d.tensor("float", [batch, d.int(1, 3), d.int(2, 6), d.int(2, 6)])
    return d.case([x, d.tensor("float", [batch, d.int(1, 5), d.int(1, 5), 2], low=-1.2, high=1.2)], attrs, scale=20)


@ms("MurmurHash3")
def murmur_hash3(d):
    dtype = d.choice(["uint32", "int32", "uint64", "int64", "float", "double", "string"])
    attrs = {"seed": d.maybe(d.int(0, 1000)), "positive": d.maybe(d.int(0, 1))}
    return d.case([d.tensor(dtype, d.shape(0, 3), wide=True)], attrs)


@ms("Tokenizer")
def tokenizer(d):
    words = ("a b c", "tern gull", "x", "the quick tern", "a,b", "")
    attrs = {"mark": d.int(0, 1), "mincharnum": d.int(1, 2), "pad_value": "#"}
    if d.chance(0.5):
        attrs["separators"] = d.choice([[" "], [" ", ","], ["[ ,]"], ["e", "^ "], ["a|an", "x*"]])
    else:
        attrs["tokenexp"] = d.choice(["[a-z]+", "[a-z]", "e|er|t", "\\b[a-z]", "q.*n|u", "[^,]*"])
    shape = [d.int(1, 4)] if d.chance(0.5) else [d.int(1, 2), d.int(1, 3)]
    return d.case([d.tensor("string", shape, words=words)], attrs)


@ms("UnfoldTensor")
def unfold_tensor(d):
    shape = d.shape(1, 3, zero=0)
    axis = d.int(0, len(shape) - 1)
    attrs = {"dim": d.sign_axis(axis, len(shape)), "size": d.int(1, shape[axis]), "step": d.int(1, 2)}
    return d.case([d.tensor(d.choice(["float", "int32", "int64"]), shape)], attrs)


@ms("DynamicTimeWarping")
def dynamic_time_warping(d):
    return d.case([d.tensor("float", [d.int(1, 5), d.int(1, 6)])])


@ms("BifurcationDetector", weight=0.5)
def bifurcation_detector(d):
    source = d.tensor("int64", [d.int(4, 9)], low=0, high=5)
    current = d.tensor("int64", [d.int(2, 5)], low=0, high=5)
    start = d.int(0, 2)
    predicted = d.maybe(d.tensor("int64", [len(source) + 1 - start], low=0, high=5))
    attrs = {"min_ngram_size": 1, "max_ngram_size": d.int(2, 3)}
    return d.case([source, current, d.scalar("int64", start), predicted], attrs, outputs=2)


@ms("WordConvEmbedding", weight=0.5)
def word_conv_embedding(d):
    chars, width, kernel, filters, vocabulary = d.int(3, 6), d.int(2, 4), 2, d.int(1, 3), 9
    sequence = d.tensor("int32", [d.int(1, 3), chars], low=1, high=vocabulary - 1)
    inputs = [sequence, d.tensor("float", [filters, 1, kernel, width]), d.tensor("float", [filters]),
              d.tensor("float", [vocabulary, width])]
    attrs = {"embedding_size": filters, "conv_window_size": kernel, "char_embedding_size": width}
    return d.case(inputs, attrs, scale=20)
