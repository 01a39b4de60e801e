"""Operators on strings."""

from fuzz.registry import op

PATTERNS = [r"[a-z]+", r"\d+", r".*", r"", r"(ab|a)", r"[^ ]+ .*", r"T?tern", r"-?\d+\.\d", r"\w+", r"[A-Z].*"]


@op("StringConcat")
def string_concat(d):
    left, right = d.broadcast(2)
    return d.case([d.tensor("string", left), d.tensor("string", right)])


@op("StringSplit")
def string_split(d):
    words = ("a b c", "a,b", "", " lead", "trail ", "a  b", "one", "x,y,,z", ",", "a, b ,c")
    attrs = {"delimiter": d.maybe(d.choice([" ", ",", "", ", "]), 0.7), "maxsplit": d.maybe(d.int(1, 3))}
    return d.case([d.tensor("string", d.shape(0, 3), words=words)], attrs, outputs=2)


@op("StringNormalizer")
def string_normalizer(d):
    """Draws a vector or a matrix of one row. Its strings are ASCII, because changing the case of other characters
    depends on the locale."""
    words = ("Tern", "GULL", "the", "The", "a", "", "plover", "A b")
    # The locale is "C", because the default, en_US, is not installed on every machine.
    attrs = {"locale": "C", "case_change_action": d.maybe(d.choice(["NONE", "LOWER", "UPPER"]), 0.8),
             "is_case_sensitive": d.maybe(d.int(0, 1)),
             "stopwords": d.maybe(d.subset(["the", "The", "a", "GULL"], at_least=1))}
    shape = [d.int(1, 6)] if d.chance(0.6) else [1, d.int(1, 6)]
    return d.case([d.tensor("string", shape, words=words)], attrs)


@op("RegexFullMatch")
def regex_full_match(d):
    return d.case([d.tensor("string", d.shape(0, 3))], {"pattern": d.choice(PATTERNS)})


def ngram_pool(d, longest, words):
    """Returns the pool of n-grams, sorted by length, and the index at which each length starts."""
    pool, starts = [], []
    for n in range(1, longest + 1):
        starts.append(len(pool))
        seen = set()
        for _ in range(d.int(1, 3)):
            gram = tuple(d.choice(words) for _ in range(n))
            if gram not in seen:
                seen.add(gram)
                pool += list(gram)
    return pool, starts


@op("TfIdfVectorizer", weight=2)
def tf_idf_vectorizer(d):
    text = d.chance(0.4)
    words = ["a", "b", "tern", "c"] if text else list(range(1, 6))
    longest = d.int(1, 3)
    pool, starts = ngram_pool(d, longest, words)
    count = sum((end - start) // (n + 1) for n, (start, end) in enumerate(zip(starts, [*starts[1:], len(pool)])))
    places = d.permutation(count)
    attrs = {"mode": d.choice(["TF", "IDF", "TFIDF"]), "min_gram_length": d.int(1, longest), "max_gram_length": longest,
             "max_skip_count": d.int(0, 3), "ngram_counts": starts, "ngram_indexes": places,
             "pool_strings" if text else "pool_int64s": pool,
             "weights": d.maybe([d.uniform(0.1, 3) for _ in range(count)])}
    shape = [d.int(1, 8)] if d.chance(0.6) else [d.int(1, 3), d.int(1, 8)]
    if text:
        x = d.tensor("string", shape, words=words)
    else:
        x = d.tensor(d.choice(["int32", "int64"]), shape, low=1, high=6)
    return d.case([x], attrs)
