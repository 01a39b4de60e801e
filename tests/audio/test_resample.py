"""Resampling against the formula, and the quality of its filter."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import formulas  # noqa: E402
from probe import AudioError, Probe, speech  # noqa: E402


def decibel(x):
    return 20 * np.log10(np.sqrt(np.mean(np.square(x, dtype=np.float64))) + 1e-30)


class Resample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe()

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def resample(self, x, source, target, **options):
        return self.probe("resample", x, **{"from": source, "to": target}, **options)[:, 0]

    def test_formula(self):
        x = speech(0.1)
        for source, target in ((48000, 16000), (44100, 16000), (16000, 44100), (8000, 16000), (16000, 8000), (44100, 48000), (7, 5), (3, 500)):
            for fast in (0, 1):
                with self.subTest(source=source, target=target, fast=fast):
                    filters = {"crossings": 6, "rolloff": 0.99, "beta": 0} if fast else {}
                    short = x[:30] if target > 20 * source else x
                    wanted = formulas.resample(short.astype(np.float64), source, target, **filters)
                    got = self.resample(short, source, target, fast=fast)
                    self.assertEqual(got.shape, wanted.shape)
                    self.assertLess(np.abs(got - wanted).max(), 1e-6)

    def test_many_phases(self):
        """The filter has too many phases for a table, so that its coefficients are interpolated."""
        x = speech(0.02)
        wanted = formulas.resample(x.astype(np.float64), 96001, 96000)
        self.assertLess(np.abs(self.resample(x, 96001, 96000) - wanted).max(), 1e-6)

    def test_lengths(self):
        for count in (0, 1, 2, 3, 100, 441, 442):
            self.assertEqual(len(self.resample(np.ones(count, np.float32), 44100, 16000)), -(-count * 160 // 441))
        np.testing.assert_array_equal(self.resample(speech(0.01), 16000, 16000), speech(0.01))

    def test_channels(self):
        x = np.stack([speech(0.1), speech(0.1, seed=5)], 1)
        both = self.probe("resample", x, **{"from": 16000, "to": 24000})
        for channel in (0, 1):
            np.testing.assert_array_equal(both[:, channel], self.resample(x[:, channel].copy(), 16000, 24000))

    def test_quality(self):
        """The documented figures: a ripple below 0.01 dB up to 7 kHz of 8, and aliases below -110 dB."""
        t = np.arange(48000) / 48000
        for hz in (100, 1000, 4000, 6000, 7000):
            y = self.resample(np.sin(2 * np.pi * hz * t), 48000, 16000)[2000:-2000]
            self.assertLess(abs(decibel(y) - decibel(np.sqrt(0.5))), 0.01, hz)
        for hz in (8000, 8500, 9000, 12000, 15000, 20000):
            y = self.resample(np.sin(2 * np.pi * hz * t), 48000, 16000)[2000:-2000]
            self.assertLess(decibel(y), -110, hz)

    def test_errors(self):
        for source, target in ((0, 16000), (16000, 0), (1, 16000), (16000, 10), (-5, 5)):
            with self.assertRaisesRegex(AudioError, f"cannot resample from {source} Hz to {target} Hz"):
                self.resample(speech(0.01), source, target)
        with self.assertRaisesRegex(AudioError, "1 to 1024 zero crossings"):
            self.resample(speech(0.01), 8000, 16000, zero_crossings=0)


if __name__ == "__main__":
    unittest.main()
