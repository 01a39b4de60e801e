"""STFT, log-mel, MFCC and Kaldi's features against the formulas in numpy."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import formulas  # noqa: E402
from probe import AudioError, Probe, speech  # noqa: E402

STFTS = [
    {}, {"n_fft": 512, "hop_length": 128}, {"n_fft": 1024, "hop_length": 256, "window": "hamming"},
    {"n_fft": 512, "hop_length": 160, "win_length": 400}, {"n_fft": 401, "hop_length": 100}, {"n_fft": 7, "hop_length": 3},
    {"n_fft": 1, "hop_length": 5}, {"n_fft": 2, "hop_length": 1}, {"n_fft": 3, "hop_length": 1}, {"n_fft": 62, "hop_length": 11},
    {"n_fft": 37, "hop_length": 10}, {"n_fft": 74, "hop_length": 10}, {"n_fft": 1009, "hop_length": 333}, {"n_fft": 961, "hop_length": 100},
    {"n_fft": 360, "hop_length": 77, "window": "blackman", "periodic": 0}, {"pad_mode": "constant"}, {"pad_mode": "replicate"},
    {"pad_mode": "circular"}, {"center": 0}, {"normalized": 1}, {"onesided": 0}, {"onesided": 0, "n_fft": 15, "hop_length": 4},
    {"window": "bartlett"}, {"window": "rectangular", "hop_length": 400}, {"win_length": 201, "n_fft": 400},
]
LOG_MELS = [
    {"whisper": 1}, {"whisper": 1, "n_mels": 128}, {"log": "natural"}, {"log": "natural", "offset": 1e-3, "n_mels": 64, "n_fft": 512},
    {"log": "clamped", "offset": 1e-5, "scale": "slaney"}, {"log": "decibel", "offset": 1e-10, "top_db": 80},
    {"log": "decibel", "offset": 1e-10}, {"log": "none"}, {"power": 1, "log": "clamped", "offset": 1e-5},
    {"sample_rate": 22050, "n_fft": 1024, "hop_length": 256, "f_max": 8000, "scale": "slaney", "norm": "slaney", "log": "clamped",
     "offset": 1e-5, "power": 1}, {"preemphasis": 0.97, "f_min": 20, "f_max": 7600}, {"normalized": 1, "offset": 1e-9},
]


class Features(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe()

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def near(self, got, wanted, limit):
        self.assertEqual(got.shape, wanted.shape)
        error = np.abs(got - wanted).max() if wanted.size else 0
        self.assertLessEqual(error, limit)

    def test_stft(self):
        x = speech(0.6)[:9001]
        for options in STFTS:
            with self.subTest(**options):
                wanted = formulas.stft(x, **options)
                got = self.probe("stft", x, **options)
                self.near(got[..., 0] + 1j * got[..., 1], wanted, 3e-6 * max(1, np.abs(wanted).max()))

    def test_every_length(self):
        x = speech(0.1)
        for n_fft in range(1, 260):
            with self.subTest(n_fft=n_fft):
                options = {"n_fft": n_fft, "hop_length": 300, "window": "rectangular", "center": 0}
                wanted, got = formulas.stft(x, **options), self.probe("stft", x, **options)
                self.near(got[..., 0] + 1j * got[..., 1], wanted, 2e-6 * max(1, np.abs(wanted).max()))

    def test_istft(self):
        x = speech(0.5)
        for options in ({}, {"n_fft": 512, "hop_length": 128}, {"normalized": 1}, {"onesided": 0}, {"n_fft": 401, "hop_length": 100},
                        {"n_fft": 74, "hop_length": 20}, {"window": "hamming", "center": 0}):
            with self.subTest(**options):
                spectrum = self.probe("stft", x, **options)
                back = self.probe("istft", spectrum, length=len(x) if options.get("center", 1) else -1, **options)
                covered = len(back) if options.get("center", 1) == 0 else len(x) // options.get("hop_length", 160) * options.get("hop_length", 160)
                self.near(back[:covered], x[:covered], 2e-6)
                longer = self.probe("istft", spectrum, length=len(x) + 1000, **options)
                self.assertEqual(len(longer), len(x) + 1000)
        with self.assertRaisesRegex(AudioError, "sum of squares is zero at sample 0"):
            self.probe("istft", self.probe("stft", x, n_fft=200, hop_length=500), n_fft=200, hop_length=500, center=0)

    def test_spectrogram(self):
        x = speech(0.5)
        for power in (1, 2):
            wanted = np.abs(formulas.stft(x)) ** power
            self.near(self.probe("spectrogram", x, power=power), wanted, 1e-5 * wanted.max())

    def test_mel_bank(self):
        for options in ({}, {"scale": "slaney", "norm": "slaney"}, {"n_mels": 128, "norm": "slaney"}, {"n_fft": 2048, "sample_rate": 44100},
                        {"f_min": 133.3, "f_max": 6855.5, "n_mels": 40, "scale": "slaney"}):
            with self.subTest(**options):
                self.near(self.probe("mel_bank", np.zeros(1), **options), formulas.mel_bank(**options), 1e-6)

    def test_log_mel(self):
        signals = {"speech": speech(2), "noise": np.random.default_rng(1).uniform(-1, 1, 20000).astype(np.float32),
                   "silence": np.zeros(8000, np.float32), "short": speech(0.05)}
        for name, x in signals.items():
            for options in LOG_MELS:
                with self.subTest(signal=name, **options):
                    if len(x) <= options.get("n_fft", 400) // 2:
                        continue
                    wanted = formulas.log_mel(x, **options)
                    scale = 10 if options.get("log") == "decibel" else max(1, wanted.max()) if options.get("log") == "none" else 1
                    self.near(self.probe("log_mel", x, **options), wanted, 1e-4 * scale)

    def test_mfcc(self):
        x = speech(1)
        for options in ({"log": "decibel", "offset": 1e-10, "top_db": 80, "n_mels": 128, "n_mfcc": 40}, {"log": "natural"},
                        {"log": "natural", "lifter": 22, "n_mfcc": 20}):
            with self.subTest(**options):
                self.near(self.probe("mfcc", x, **options), formulas.mfcc(x, **options), 2e-3)

    def test_kaldi(self):
        x = speech(1)
        for options in ({}, {"n_mels": 40, "snip_edges": 0}, {"window": "hamming", "high_freq": -400}, {"sample_rate": 8000, "n_mels": 23}):
            with self.subTest(**options):
                self.near(self.probe("kaldi_fbank", x, **options), formulas.kaldi_fbank(x, **options), 1e-4)
                self.near(self.probe("kaldi_mfcc", x, **options), formulas.kaldi_mfcc(x, **options), 1e-3)

    def test_normalise(self):
        x = speech(0.3)
        wide = x.astype(np.float64)
        self.near(self.probe("preemphasis", x), np.append(wide[:1], wide[1:] - 0.97 * wide[:-1]), 1e-6)
        self.near(self.probe("normalise_signal", x), (wide - wide.mean()) / np.sqrt(wide.var() + 1e-7), 1e-5)
        features = formulas.log_mel(x).astype(np.float32)
        for axis, array in ((1, features), (0, features.T.copy())):
            array64 = array.astype(np.float64)
            centred = array64 - array64.mean(axis, keepdims=True)
            self.near(self.probe("normalise_features", array, axis=axis, variance=0), centred, 1e-5)
            wanted = centred / (array64.std(axis, ddof=1, keepdims=True) + 1e-5)
            self.near(self.probe("normalise_features", array, axis=axis), wanted, 1e-4)

    def test_errors(self):
        x = speech(0.1)
        for function, options, message in (
                ("stft", {"n_fft": 0}, "1 <= n_fft"), ("stft", {"hop_length": 0}, "hop_length >= 1"), ("stft", {"win_length": 500}, "win_length"),
                ("stft", {"n_fft": 4000}, "1600 samples is too short for padding by 2000"),
                ("stft", {"n_fft": 4000, "center": 0}, "1600 samples is shorter than one frame of 4000"),
                ("log_mel", {"n_mels": 0}, "got 0 filters"), ("log_mel", {"f_max": 9000}, "f_max <= 8000 Hz"),
                ("log_mel", {"f_min": 300, "f_max": 200}, "from 300 to 200 Hz"), ("log_mel", {"power": 3}, "1 or 2, got 3"),
                ("mfcc", {"n_mfcc": 90}, "1 to 80"), ("kaldi_fbank", {"sample_rate": 1}, "2 to 1048576 samples"),
                ("kaldi_fbank", {"low_freq": 9000}, "from 9000"), ("normalise_features", {}, "got f32[1600]"),
                ("istft", {}, "must be f32[201,time,2]")):
            with self.subTest(function=function, **options):
                with self.assertRaises(AudioError) as caught:
                    self.probe(function, x, **options)
                self.assertIn(message, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
