#!/usr/bin/env python3
"""Writes src/data/tokenizer/scripts.inc: the script of each code point as the pre-tokenizer UnicodeScripts sees it.

Scripts are numbered in the order of their first code point. 0 joins with every other. Usage: make_script_table.py OUTPUT
"""

import sys

from tokenizers import pre_tokenizers

import character_classes

SCRIPTS = pre_tokenizers.UnicodeScripts()


def joins(first, second):
    return len(SCRIPTS.pre_tokenize_str(first + second)) == 1


def number_of(character, last, representatives):
    """Returns the number of the character's script. `last` is a character and its number, or None."""
    if not SCRIPTS.pre_tokenize_str(character):
        return 0
    if last and last[1] != 0 and joins(last[0], character):
        return last[1]
    for number, representative in enumerate(representatives, 1):
        if joins(representative, character):
            return number
    representatives.append(character)
    return len(representatives)


def main():
    representatives, rows, last = [], [], None
    for character in character_classes.all_characters():
        number = number_of(character, last, representatives)
        if last is None or number != last[1]:
            rows.append(f"{{0x{ord(character):x}, {number}}},")
        last = (character, number)
    lines, line = [], ""
    for row in rows:
        if len(line) + len(row) + 1 > 110:
            lines.append(line)
            line = ""
        line = f"{line} {row}".strip()
    with open(sys.argv[1], "w") as out:
        out.write("// Made by tests/tokenizers/make_script_table.py. {first code point of a run, its script}\n")
        out.write("\n".join(lines + [line]) + "\n")


if __name__ == "__main__":
    main()
