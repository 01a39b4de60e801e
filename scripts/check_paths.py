#!/usr/bin/env python3
"""Fails if a text file contains a path that exists only on its author's machine, such as a path in a home folder."""

import re
import sys

from testlib.tree import read_text, source_files

# The strings are split, so that this file passes its own check.
PLACES = re.compile(r"(?<![\w.~-])/(?:" + "work" + "|" + "home" + r"/[\w.-]+)/")


def main():
    count = failures = 0
    for path in source_files():
        text = read_text(path)
        if text is None:
            continue
        count += 1
        for number, line in enumerate(text.splitlines(), 1):
            match = PLACES.search(line)
            if match:
                failures += 1
                print(f"{path}:{number}: contains '{match.group()}', a folder that exists only on one machine")
    print(f"paths: {count} text files, {failures} violations")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
