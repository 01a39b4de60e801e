#!/usr/bin/env python3
"""Compares Tern's tokenizers with the `tokenizers` package: ids, offsets, masks, tokens, words and decoded text."""

import argparse
import os
import pathlib
import sys
import tempfile

import components
import corpus
import trained
from driver import Tern, TernError

def decoded(tokenizer, ids, skip_special_tokens):
    """Returns the package's text, or None where the package panics: its Strip and BPEDecoder do so on empty tokens."""
    try:
        return tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def expected(tokenizer, encoding):
    """The fields of an encoding of the package, as Tern gives them."""
    return {
        "ids": encoding.ids, "offsets": encoding.offsets, "tokens": encoding.tokens, "type_ids": encoding.type_ids,
        "attention_mask": encoding.attention_mask, "special_tokens_mask": encoding.special_tokens_mask,
        "words": [-1 if w is None else w for w in encoding.word_ids],
        "decoded": decoded(tokenizer, encoding.ids, True), "decoded_all": decoded(tokenizer, encoding.ids, False),
    }


def difference(tokenizer, encoding, actual):
    """Returns '' or the first field that differs."""
    if isinstance(encoding, Exception):
        return "" if isinstance(actual, TernError) else f"no error, but the package says: {encoding}"
    if isinstance(actual, TernError):
        return f"error: {actual}"
    for name, value in expected(tokenizer, encoding).items():
        found = getattr(actual, name)
        if value == found or value is None:
            continue
        if isinstance(value, str):
            return f"{name}: {found[:200]!r} instead of {value[:200]!r}"
        at = next((i for i, (a, b) in enumerate(zip(value, found)) if a != b), min(len(value), len(found)))
        low = max(0, at - 2)
        return (f"{name} has {len(found)} elements instead of {len(value)}; from {low}: {found[low:at + 4]} instead of {value[low:at + 4]}; "
                f"tokens {actual.tokens[low:at + 4]} / {encoding.tokens[low:at + 4]}")
    return ""


def results(tern, tokenizer, texts, special):
    """Returns the encodings of the package and of Tern. An exception of the package takes the place of an encoding."""
    try:
        return tokenizer.encode_batch(texts, add_special_tokens=special), tern.encode(texts, special)
    except Exception as error:  # the package raises plain exceptions
        if len(texts) == 1:
            return [error], tern.encode(texts, special)
        singles = [results(tern, tokenizer, [text], special) for text in texts]
        return [package[0] for package, _ in singles], [own[0] for _, own in singles]


def compare(tern, name, tokenizer, texts, special=True, limit=1, batch=64):
    """Prints the differences. Returns the number of texts that differ."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(tokenizer.to_str())
        file.flush()
        tern.load(file.name)
    failed = 0
    for start in range(0, len(texts), batch):
        chunk = texts[start:start + batch]
        for text, encoding, actual in zip(chunk, *results(tern, tokenizer, chunk, special)):
            if what := difference(tokenizer, encoding, actual):
                failed += 1
                if failed <= limit:
                    print(f"FAIL {name}: {str(text)[:40]!r}: {what[:250]}")
    return failed


def compare_trained(tern, lines, args):
    """Yields the number of differences of each trained tokenizer."""
    hostile = list(corpus.hostile())
    for kind, makers in trained.KINDS.items():
        for make in (make for make in makers if args.only in make.__name__):
            tokenizer = make(lines[:4000], args.vocabulary)
            if args.save:
                tokenizer.save(f"{args.save}/{make.__name__}.json")
            name = f"{kind} {make.__name__}"
            bad = compare(tern, name, tokenizer, lines)
            bad += compare(tern, f"{name}, hostile", tokenizer, hostile, batch=1)
            bad += compare(tern, f"{name}, pairs", tokenizer, list(zip(lines[:500], lines[-500:])))
            bad += compare(tern, f"{name}, no special tokens", tokenizer, lines[:500], special=False)
            print(f"{name}: {bad} differences in {len(lines)} lines", flush=True)
            yield bad


def compare_components(tern, lines, args):
    texts = lines[:50 if args.sample else 300] + [text for text in corpus.hostile() if len(text) < 5000]
    code_points = components.code_point_lines()[::20 if args.sample else 1]
    for name, tokenizer in components.components():
        if args.only not in name:
            continue
        bad = compare(tern, name, tokenizer, texts)
        if name.startswith("post-processor"):
            bad += compare(tern, f"{name}, pairs", tokenizer, list(zip(lines[:100], lines[100:200])))
        elif "Replace" not in name and "decoder" not in name and not components.needs_unicode_16(name):
            bad += compare(tern, f"{name}, code points", tokenizer, code_points)
        if bad:
            print(f"{name}: {bad} differences", flush=True)
        yield bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="tern_tokenize")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--vocabulary", type=int, default=6000)
    parser.add_argument("--only", default="", help="names that contain this text")
    parser.add_argument("--sample", action="store_true", help="components on few texts")
    parser.add_argument("--save", help="a folder for the trained files")
    args = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    lines = corpus.lines(pathlib.Path(__file__).resolve().parents[2], args.lines)
    tern = Tern(args.program)
    bad = [*compare_components(tern, lines, args), *compare_trained(tern, lines, args)]
    tern.close()
    failed = sum(b > 0 for b in bad)
    print(f"{len(bad) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
