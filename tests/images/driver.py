"""Talks to the program tern_images, which calls the image functions of src/data."""

import os
import pathlib
import subprocess

import numpy as np


class DriverError(Exception):
    """The message of a command that failed."""


def default_program():
    root = pathlib.Path(os.environ.get("TERN_ROOT", pathlib.Path(__file__).parents[2]))
    tern = os.environ.get("TERN_BIN")
    return (pathlib.Path(tern).parent if tern else root / "build/release/bin") / "tern_images"


class Driver:
    def __init__(self, program=None):
        self.process = subprocess.Popen([str(program or default_program())], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def command(self, *words):
        """Returns the numbers of the answer and its bytes."""
        self.process.stdin.write((" ".join(str(w) for w in words) + "\n").encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode()
        kind, _, rest = line.rstrip("\n").partition(" ")
        if kind != "ok":
            raise DriverError(rest or f"tern_images ended with {self.process.wait()}")
        numbers = rest.split()
        return numbers[:-1], self.process.stdout.read(int(numbers[-1]))

    def image(self, *words):
        """Runs a command that gives a picture. Returns an array of [H, W] or [H, W, 3]."""
        dims, data = self.command(*words)
        height, width, channels = map(int, dims)
        return np.frombuffer(data, np.uint8).reshape((height, width, 3) if channels == 3 else (height, width))

    def tensor(self, path, array_type=np.float32, **options):
        words = [f"{key}={value}" for key, value in options.items()]
        dims, data = self.command("tensor", path, *words)
        return np.frombuffer(data, array_type).reshape([int(d) for d in dims])

    def seconds(self, *words):
        return float(self.command(*words)[0][0])
