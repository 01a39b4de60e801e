#!/usr/bin/env python3
"""Writes src/data/tokenizer/unicode_ranges.inc: the classes that the `tokenizers` package gives to each code point.

The package mixes several versions of Unicode, so the classes are read from its behaviour. Usage: make_unicode_tables.py OUTPUT
"""

import sys

import character_classes


def runs(flags):
    """Yields (first code point, flags) for each run of code points with equal flags."""
    last = None
    for code_point in range(0x110000):
        if flags[code_point] != last:
            last = flags[code_point]
            yield code_point, last


def main():
    classes = character_classes.read()
    flags = [0] * 0x110000
    for bit, name in enumerate(character_classes.NAMES):
        for code_point in classes[name]:
            flags[code_point] |= 1 << bit
    rows = [f"{{0x{code_point:x}, {value}}}," for code_point, value in runs(flags)]
    lines, line = [], ""
    for row in rows:
        if len(line) + len(row) + 1 > 110:
            lines.append(line)
            line = ""
        line = f"{line} {row}".strip()
    lines.append(line)
    with open(sys.argv[1], "w") as out:
        out.write("// Made by tests/tokenizers/make_unicode_tables.py. {first code point of a run, its CharClass bits}\n")
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
