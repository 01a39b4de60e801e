"""Calls tern_audio, the program that runs functions of src/data/audio."""

import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("TERN_BIN", ROOT / "build/release/bin/tern")).parent / "tern_audio"


class AudioError(Exception):
    pass


class Probe:
    """One running program. A call takes an array, or the path of a file, and returns an array."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.details = {}

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def close(self):
        self.process.communicate()
        self.folder.cleanup()

    def send(self, function, source, target, **options):
        words = [function, str(source), str(target)] + [f"{key}={value}" for key, value in options.items()]
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer.startswith("ok"):
            raise AudioError(answer or "the program ended")
        self.details = {key: float(value) for key, value in re.findall(r"(\w+)=(\S+)", answer)}

    def __call__(self, function, source, **options):
        if isinstance(source, np.ndarray):
            np.save(self.path("in.npy"), source.astype(np.float32))
            source = self.path("in.npy")
        self.send(function, source, self.path("out.npy"), **options)
        return np.load(self.path("out.npy"))

    def decode(self, data):
        self.path("in.bin").write_bytes(data)
        return self("decode", self.path("in.bin"))


def speech(seconds=1.0, rate=16000, seed=0):
    """Something like speech: harmonics with a gliding pitch, pauses and noise."""
    t = np.arange(int(seconds * rate)) / rate
    pitch = 120 + 40 * np.sin(2 * np.pi * 0.7 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = sum(np.sin(k * phase) / k for k in range(1, 20)) * (np.sin(2 * np.pi * 1.3 * t) > -0.3)
    noise = np.random.default_rng(seed).standard_normal(len(t))
    return (0.2 * voice + 0.01 * noise).astype(np.float32)
