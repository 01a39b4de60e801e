#!/usr/bin/env python3
"""Encodes the texts of tests/data/tokenizers and compares with the stored results. Needs no other package.

make_fixtures.py writes the files."""

import argparse
import json
import pathlib
import sys

from driver import Tern, TernError

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data" / "tokenizers"


def differences(tern, path):
    """Yields a line for each text whose result differs from the stored one."""
    tern.load(path)
    for expected in json.loads(path.with_suffix(".expected").read_text()):
        text = expected.pop("text")
        actual = tern.encode([text])[0]
        if isinstance(actual, TernError):
            yield f"{text!r}: {actual}"
            continue
        for name, value in expected.items():
            found = getattr(actual, name)
            if name == "offsets":
                found = [list(pair) for pair in found]
            if found != value:
                yield f"{text!r}: {name} is {found}, not {value}"
                break


def bad_text_is_an_error(tern):
    """Bytes that are not UTF-8 give an error that names the place."""
    tern.load(FOLDER / "gpt2.json")
    error = tern.encode(["ab\ud800"])[0]
    return isinstance(error, TernError) and "byte 2 of 5" in str(error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="tern_tokenize")
    tern = Tern(parser.parse_args().program)
    passed = failed = 0
    for path in sorted(FOLDER.glob("*.json")):
        lines = list(differences(tern, path))
        for line in lines:
            print(f"FAIL {path.name}: {line[:500]}")
        passed, failed = passed + (not lines), failed + bool(lines)
    if not bad_text_is_an_error(tern):
        print("FAIL a lone surrogate is not an error")
        failed += 1
    tern.close()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or passed < 11 else 0


if __name__ == "__main__":
    sys.exit(main())
