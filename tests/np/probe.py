"""Calls functions of tern/np.hpp through the program tern_np_driver."""

import os
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("TERN_BIN", ROOT / "build/release/bin/tern")).parent / "tern_np_driver"
CODES = {1: np.float32, 2: np.float64, 13: np.int32, 14: np.int64, 15: np.uint8, 23: np.bool_}
CODE_OF = {np.dtype(value): key for key, value in CODES.items()}


class NpError(Exception):
    pass


class Number(float):
    """A C++ number, as 2 in `a + 2`, whose type adapts to the array."""


class Probe:
    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.nanoseconds = 0.0

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline().decode().rstrip("\n")
        if not line.startswith("ok"):
            raise NpError(line or "the program ended")
        return line.split()

    def put(self, array):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        dims = ",".join(map(str, array.shape)) or "-"
        self.send(f"put {CODE_OF[array.dtype]} {dims}\n".encode() + array.tobytes())
        return "@" + self.answer()[1]

    def word(self, argument):
        if isinstance(argument, np.ndarray | np.generic):
            return self.put(np.asarray(argument))
        if isinstance(argument, Number):
            return "#" + (repr(float(argument)) if float(argument) % 1 or abs(argument) > 1e15 else str(int(argument)))
        if isinstance(argument, tuple | list):
            return ",".join(map(str, argument)) or "-"
        if argument is None:
            return "none"
        return str(int(argument)) if isinstance(argument, bool) else str(argument)

    def __call__(self, name, *arguments, repeat=1):
        """Returns the result, or a list of several results."""
        words = [self.word(argument) for argument in arguments]
        self.send((" ".join(["call", str(repeat), name, *words]) + "\n").encode())
        _, count, nanoseconds = self.answer()
        self.nanoseconds = float(nanoseconds)
        results = [self.read() for _ in range(int(count))]
        self.send(b"clear\n")
        return results[0] if len(results) == 1 else results

    def read(self):
        line = self.process.stdout.readline().decode().rstrip("\n")
        code, _, dims = line.partition(" ")
        dtype, shape = np.dtype(CODES[int(code)]), tuple(map(int, dims.split(","))) if dims else ()
        return np.frombuffer(self.process.stdout.read(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize), dtype).reshape(shape)
