"""Operators on text, and n-grams."""

import re

import numpy as np

from . import arguments, model


@model("RegexFullMatch")
def regex_full_match(case):
    """Uses re.ASCII because the character classes of RE2 are ASCII."""
    pattern = re.compile(case.attrs["pattern"], re.ASCII)
    return [np.asarray(np.vectorize(lambda s: bool(pattern.fullmatch(s)), otypes=[bool])(case.args[0]))]


@model("StringNormalizer")
def string_normalizer(case):
    """Removes stopwords and changes the case of the other words. If no word is left, the result is [""]."""
    x, a = case.args[0], case.attrs
    fold = (lambda s: s) if a.get("is_case_sensitive") else str.lower
    change = {"LOWER": str.lower, "UPPER": str.upper, "NONE": lambda s: s}[a.get("case_change_action", "NONE")]
    stop = {fold(s) for s in a.get("stopwords") or []}
    kept = [change(s) for s in x.reshape(-1) if fold(s) not in stop] or [""]
    return [np.array(kept, object).reshape([len(kept)] if x.ndim == 1 else [1, len(kept)])]


def pool_of(case):
    """Returns a dict from n-gram to its index in the pool."""
    a = case.attrs
    pool = a.get("pool_strings") or a.get("pool_int64s")
    starts = [*a["ngram_counts"], len(pool)]
    found, number = {}, 0
    for n, (begin, end) in enumerate(zip(starts, starts[1:]), start=1):
        for at in range(begin, end, n):
            found[tuple(pool[at:at + n])] = number
            number += 1
    return found


def grams(row, n, skip):
    reach = (n - 1) * (skip + 1)
    for start in range(len(row) - reach):
        yield tuple(row[start + i * (skip + 1)] for i in range(n))


@model("TfIdfVectorizer")
def tf_idf_vectorizer(case):
    x, a = case.args[0], case.attrs
    pool, places = pool_of(case), a["ngram_indexes"]
    weights = np.array(a.get("weights") or [1.0] * len(places))
    rows = x.reshape(1, -1) if x.ndim == 1 else x
    y = np.zeros((len(rows), max(places) + 1))
    for r, row in enumerate(rows.tolist()):
        counts = np.zeros(len(places))
        for n in range(a["min_gram_length"], a["max_gram_length"] + 1):
            for skip in range(a["max_skip_count"] + 1 if n > 1 else 1):
                for gram in grams(row, n, skip):
                    if gram in pool:
                        counts[pool[gram]] += 1
        score = {"TF": counts, "IDF": (counts > 0) * weights, "TFIDF": counts * weights}[a["mode"]]
        y[r, places] = score
    return [y.astype(np.float32).reshape(-1) if x.ndim == 1 else y.astype(np.float32)]


@model("com.microsoft.MurmurHash3")
def murmur_hash3(case):
    x, = arguments(case, 1)
    seed, positive = case.attrs.get("seed", 0), case.attrs.get("positive", 1)
    data = [s.encode() if isinstance(s, str) else np.asarray(s).tobytes() for s in x.reshape(-1)]
    hashes = np.array([murmur(d, seed) for d in data], np.uint32).reshape(x.shape)
    return [hashes if positive else hashes.view(np.int32)]


def murmur(data, seed):
    mask, h = 0xFFFFFFFF, seed
    rotate = lambda v, r: ((v << r) | (v >> (32 - r))) & mask  # noqa: E731
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        k = rotate(int.from_bytes(data[at:at + 4], "little") * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
        h = (rotate(h ^ k, 13) * 5 + 0xE6546B64) & mask
    if tail := data[whole:]:
        h ^= rotate(int.from_bytes(tail, "little") * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask
    h ^= len(data)
    h = (h ^ (h >> 16)) * 0x85EBCA6B & mask
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & mask
    return h ^ (h >> 16)
