"""The command `tern`, as an entry point of the package."""

import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).parent / "bin" / "tern"


def main():
    """Replaces this process with the program of the package."""
    os.environ.setdefault("TERN_COMMAND", pathlib.Path(sys.argv[0]).name)
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])
