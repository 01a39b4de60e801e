#!/usr/bin/env python3
"""Writes src/data/tokenizer/pattern_additions.inc: code points of general categories that older Unicode data lacks.

The regular expressions of the `tokenizers` package know a later version of Unicode than PCRE2's. Python's own data, of Unicode 14
in Python 3.11, is what PCRE2 10.42 has. Usage: make_pattern_tables.py OUTPUT
"""

import sys
import unicodedata

import character_classes

CATEGORIES = ("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pd", "Ps", "Pe", "Pi", "Pf",
              "Po", "Pc", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs")


def ranges(code_points):
    """Returns a list of (first, last)."""
    out = []
    for code_point in sorted(code_points):
        if out and out[-1][1] == code_point - 1:
            out[-1][1] = code_point
        else:
            out.append([code_point, code_point])
    return out


def known(category):
    return {ord(c) for c in character_classes.all_characters() if unicodedata.category(c).startswith(category)}


def main():
    if not unicodedata.unidata_version.startswith("14."):
        sys.exit(f"this Python has Unicode {unicodedata.unidata_version}; 14 is needed")
    with open(sys.argv[1], "w") as out:
        out.write("// Made by tests/tokenizers/make_pattern_tables.py. {category, code points since Unicode 14, as in a character class}\n")
        for category in CATEGORIES:
            added = character_classes.matched_by(rf"\p{{{category}}}") - known(category)
            pieces = [f"\\\\x{{{a:x}}}" if a == b else f"\\\\x{{{a:x}}}-\\\\x{{{b:x}}}" for a, b in ranges(added)]
            if not pieces:
                continue
            out.write(f'{{"{category}",\n')
            for i in range(0, len(pieces), 5):
                out.write(f' "{"".join(pieces[i:i + 5])}"\n')
            out.write("},\n")


if __name__ == "__main__":
    main()
