#!/usr/bin/env python3
"""Fails if a source file has more than 900 lines. Lists the files with more than 450 lines, and prints the median."""

import statistics
import sys

from testlib.tree import CXX, read_text, source_files

LIMIT = 900
SELDOM = 450
COUNTED = CXX | {".inc", ".py", ".sh", ".ts", ".js", ".css", ".html", ".cmake", ".proto", ".fbs"}
DATA = ("tests/data/", "third_party/")


def is_counted(path):
    text = path.as_posix()
    script = path.suffix == "" and path.parts[0] in ("scripts", ".ci")
    return (path.suffix in COUNTED or script or path.name == "CMakeLists.txt") and not text.startswith(DATA)


def main():
    sizes = {path: len((read_text(path) or "").splitlines()) for path in source_files() if is_counted(path)}
    if not sizes:
        print("sizes: no source files")
        return 0
    for path, lines in sorted(sizes.items(), key=lambda item: -item[1]):
        if lines > SELDOM:
            print(f"{path}: {lines} lines" + (f", over the limit of {LIMIT}" if lines > LIMIT else ""))
    longest = max(sizes, key=sizes.get)
    print(f"sizes: {len(sizes)} files, median {statistics.median(sizes.values()):.0f} lines, "
          f"longest {longest} ({sizes[longest]})")
    return 1 if sizes[longest] > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
