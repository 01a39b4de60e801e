#!/usr/bin/env python3
"""Measures decoding, resampling and log-mel features beside numpy and, if they are installed, torch, scipy and soundfile.

Prints milliseconds of processor time for 30 seconds of sound. Build the target tern_audio first."""

import importlib.util
import io
import math
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/audio"))
import formulas  # noqa: E402
from probe import Probe, speech  # noqa: E402

SECONDS, ROUNDS = 30, 7


def have(name):
    return importlib.util.find_spec(name) is not None


def fastest(call):
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start))
    return min(times)


def tern(probe, *args, **options):
    times = []
    for _ in range(ROUNDS):
        probe(*args, **options)
        times.append(probe.details["cpu"])
    return min(times)


def row(name, ours, peers):
    print(f"{name:28}" + f"tern {ours:9.2f}" + "".join(f"   {peer} {value:9.2f}" for peer, value in peers.items()), flush=True)


def whisper(torch, x):
    window, samples = torch.hann_window(400), torch.tensor(x)
    bank = torch.tensor(formulas.mel_bank(scale="slaney", norm="slaney"), dtype=torch.float32)

    def call():
        power = torch.stft(samples, 400, 160, window=window, return_complex=True)[:, :-1].abs() ** 2
        log = (bank @ power).clamp(min=1e-10).log10()
        return (torch.maximum(log, log.max() - 8) + 4) / 4
    return call


def log_mel(probe):
    x = speech(SECONDS)
    peers = {"numpy": fastest(lambda: formulas.whisper_mel(x, 80))}
    if have("torch"):
        import torch
        torch.set_num_threads(1)
        peers["torch"] = fastest(whisper(torch, x))
    row("log-mel of Whisper", tern(probe, "log_mel", x, whisper=1), peers)


def resample(probe):
    for source, target in ((48000, 16000), (44100, 16000), (16000, 44100)):
        x, peers = speech(SECONDS, source), {}
        if have("scipy"):
            from scipy.signal import resample_poly
            divisor = math.gcd(source, target)
            peers["scipy"] = fastest(lambda: resample_poly(x, target // divisor, source // divisor))
        for fast in (0, 1):
            ours = tern(probe, "resample", x, **{"from": source, "to": target}, fast=fast)
            row(f"{source} to {target}{' (fast)' if fast else ''}", ours, peers)


def decode(probe):
    if not have("soundfile"):
        print("decoding: soundfile is missing")
        return
    import soundfile
    x = np.stack([speech(SECONDS, 44100), speech(SECONDS, 44100, seed=1)], 1)
    for form in ("WAV", "FLAC"):
        path = probe.path(f"x.{form.lower()}")
        soundfile.write(path, x, 44100, subtype="PCM_16")
        data = path.read_bytes()
        row(f"decode {form}, stereo", tern(probe, "decode", path, repeat=5), {"soundfile": fastest(lambda: soundfile.read(io.BytesIO(data), dtype="float32"))})


def main():
    probe = Probe()
    log_mel(probe)
    resample(probe)
    decode(probe)
    probe.close()


if __name__ == "__main__":
    main()
