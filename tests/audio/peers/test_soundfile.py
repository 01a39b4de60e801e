"""WAV and FLAC files that the package soundfile writes, decoded by both."""

import io
import pathlib
import sys
import unittest

import numpy as np
import soundfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import wavs  # noqa: E402
from probe import Probe, speech  # noqa: E402


class SoundFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe()

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def same(self, data):
        wanted, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
        np.testing.assert_array_equal(self.probe.decode(data), wanted)
        self.assertEqual(self.probe.details["rate"], rate)

    def test_written_by_soundfile(self):
        x = np.stack([speech(0.4), speech(0.4, seed=1) * 0.5, speech(0.4, seed=2) * 2], 1)
        x[100:200] = 0  # digital silence
        kinds = [(form, subtype) for form in ("WAV", "WAVEX", "RF64") for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW")]
        kinds += [("FLAC", subtype) for subtype in ("PCM_S8", "PCM_16", "PCM_24")]
        for form, subtype in kinds:
            for channels in (1, 2, 3):
                for rate in (8000, 44100, 96000):
                    with self.subTest(form=form, subtype=subtype, channels=channels, rate=rate):
                        out = io.BytesIO()
                        soundfile.write(out, x[:, :channels], rate, subtype=subtype, format=form)
                        self.same(out.getvalue())

    def test_own_files(self):
        for tag, bits in wavs.KINDS:
            with self.subTest(tag=tag, bits=bits):
                data, _ = wavs.samples(tag, bits, 400)
                self.same(wavs.riff(wavs.format_chunk(tag, 2, 16000, bits), wavs.chunk(b"data", data)))

    def test_written_by_tern(self):
        x = np.stack([speech(0.2), speech(0.2, seed=3)], 1)
        np.save(self.probe.path("x.npy"), x)
        for name in ("pcm16", "pcm24", "float32"):
            self.probe.send("encode", self.probe.path("x.npy"), self.probe.path("x.wav"), format=name, rate=22050)
            self.same(self.probe.path("x.wav").read_bytes())


if __name__ == "__main__":
    unittest.main()
