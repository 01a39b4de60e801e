"""Lists and reads the files of the checkout, for the checks."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = {".h", ".hpp", ".cuh"}
CXX = HEADERS | {".cc", ".cu"}


def source_files():
    """Returns the files that git tracks or would add, as paths relative to the root.

    Without git, returns all files except those in build folders.
    """
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"],
                            capture_output=True, check=False)
    if listed.returncode == 0:
        paths = [pathlib.Path(os.fsdecode(name)) for name in listed.stdout.split(b"\0") if name]
    else:
        hidden = {"build", ".venv", ".cache", "__pycache__"}
        paths = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
        paths = [path for path in paths if not hidden & set(path.parts)]
    return sorted(path for path in paths if (ROOT / path).is_file())


def read_text(path):
    """Returns the text of a file of the checkout, or None if the file is not text."""
    data = (ROOT / path).read_bytes()
    if b"\0" in data[:8192]:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
