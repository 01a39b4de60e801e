"""Spectra and log-mel features against torch.stft and torch.istft, in the formulas of Whisper and torchaudio."""

import pathlib
import sys
import unittest

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import formulas  # noqa: E402
from probe import Probe, speech  # noqa: E402
from test_features import LOG_MELS, STFTS  # noqa: E402

WINDOWS = {"hann": torch.hann_window, "hamming": torch.hamming_window, "blackman": torch.blackman_window, "bartlett": torch.bartlett_window,
           "rectangular": lambda length, periodic, dtype: torch.ones(length, dtype=dtype)}


def window(o, dtype):
    length = o.get("win_length") or o.get("n_fft", 400)
    return WINDOWS[o.get("window", "hann")](length, periodic=bool(o.get("periodic", 1)), dtype=dtype)


def stft(x, o):
    n_fft = o.get("n_fft", 400)
    return torch.stft(x, n_fft, o.get("hop_length", 160), o.get("win_length") or n_fft, window(o, x.dtype), center=bool(o.get("center", 1)),
                      pad_mode=o.get("pad_mode", "reflect"), normalized=bool(o.get("normalized", 0)), onesided=bool(o.get("onesided", 1)),
                      return_complex=True)


def log_mel(x, o):
    if o.get("preemphasis"):
        x = torch.cat([x[:1], x[1:] - o["preemphasis"] * x[:-1]])
    power = stft(x, o).abs() ** o.get("power", 2)
    if o.get("whisper"):
        power = power[:, :-1]
        o = dict(o, scale="slaney", norm="slaney")
    mel = torch.tensor(formulas.mel_bank(**formulas.only(o, formulas.BANK)), dtype=x.dtype) @ power
    if o.get("whisper"):
        log = mel.clamp(min=1e-10).log10()
        return (torch.maximum(log, log.max() - 8) + 4) / 4
    offset = o.get("offset", 1e-6)
    if o.get("log") == "decibel":
        decibel = 10 * mel.clamp(min=offset).log10()
        return torch.maximum(decibel, decibel.max() - o["top_db"]) if o.get("top_db") else decibel
    return {"none": mel, "clamped": mel.clamp(min=offset).log()}.get(o.get("log"), (mel + offset).log())


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe()

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def test_stft(self):
        x = speech(0.6)[:9001]
        for options in STFTS:
            with self.subTest(**options):
                wanted = torch.view_as_real(stft(torch.tensor(x), options)).numpy()
                got = self.probe("stft", x, **options)
                self.assertEqual(got.shape, wanted.shape)
                self.assertLess(np.abs(got - wanted).max(), 1e-5 * max(1, np.abs(wanted).max()))

    def test_istft(self):
        spectrum = torch.tensor(np.random.default_rng(0).standard_normal((201, 30, 2)), dtype=torch.float32)
        spectrum[0, :, 1] = spectrum[200, :, 1] = 0
        for options in ({}, {"normalized": 1}, {"win_length": 320}, {"window": "hamming", "center": 0}):
            for length in (None, 3000, 4660):
                with self.subTest(length=length, **options):
                    wanted = torch.istft(torch.view_as_complex(spectrum.double()), 400, 160, options.get("win_length"), window(options, torch.float64),
                                         center=bool(options.get("center", 1)), normalized=bool(options.get("normalized", 0)), length=length).numpy()
                    got = self.probe("istft", spectrum.numpy(), length=-1 if length is None else length, **options)
                    self.assertEqual(got.shape, wanted.shape)
                    self.assertLess(np.abs(got - wanted).max(), 1e-5 * max(1, np.abs(wanted).max()))

    def test_log_mel(self):
        """Within 1e-4 of the formulas in double precision, and in decibels within 1e-3. In single precision torch itself differs
        from that in quiet bands, so that it is compared where it is loud."""
        for x in (speech(3), np.random.default_rng(1).uniform(-1, 1, 30000).astype(np.float32)):
            for options in LOG_MELS:
                with self.subTest(**options):
                    got = self.probe("log_mel", x, **options)
                    wanted = log_mel(torch.tensor(x, dtype=torch.float64), options).numpy()
                    scale = 10 if options.get("log") == "decibel" else max(1, wanted.max()) if options.get("log") == "none" else 1
                    self.assertEqual(got.shape, wanted.shape)
                    self.assertLess(np.abs(got - wanted).max(), 1e-4 * scale)
                    if options.get("whisper"):
                        single = log_mel(torch.tensor(x), options).numpy()
                        self.assertLess(np.abs(got - single).max(), 1e-4)


if __name__ == "__main__":
    unittest.main()
