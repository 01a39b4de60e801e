"""Decodes WAV and FLAC files, whole and damaged, and writes WAV files."""

import pathlib
import struct
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import flacs  # noqa: E402
import wavs  # noqa: E402
from probe import ROOT, AudioError, Probe  # noqa: E402

DATA = ROOT / "tests/data/audio"


class Decode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe()

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def same(self, data, wanted, channels=1, rate=16000):
        got = self.probe.decode(data)
        np.testing.assert_array_equal(got, wanted.reshape(-1, channels))
        self.assertEqual(self.probe.details["rate"], rate)

    def refused(self, data, message):
        with self.assertRaises(AudioError) as caught:
            self.probe.decode(data)
        self.assertIn(message, str(caught.exception))

    def test_every_kind(self):
        for tag, bits in wavs.KINDS:
            for channels in (1, 2, 6):
                for extensible in (False, True):
                    with self.subTest(tag=tag, bits=bits, channels=channels, extensible=extensible):
                        data, wanted = wavs.samples(tag, bits, 35 * channels)
                        head = wavs.format_chunk(tag, channels, 44100, bits, extensible)
                        self.same(wavs.riff(head, wavs.chunk(b"data", data)), wanted, channels, 44100)

    def test_20_bits_in_3_bytes(self):
        data, wanted = wavs.samples(wavs.PCM, 24, 10)
        self.same(wavs.riff(wavs.format_chunk(wavs.PCM, 1, 16000, 20, True, 3), wavs.chunk(b"data", data)), wanted)

    def test_other_chunks(self):
        data, wanted = wavs.samples(wavs.PCM, 16, 20)
        head, body = wavs.format_chunk(wavs.PCM, 1, 16000, 16), wavs.chunk(b"data", data)
        odd = wavs.chunk(b"LIST", b"INFOISFT\x05\0\0\0Lavf\0\0\0"[:19])
        for chunks in ((odd, head, odd, body, odd), (head, wavs.chunk(b"fact", b"\0" * 4), body), (body, head)):
            self.same(wavs.riff(*chunks), wanted)
        self.same(wavs.riff(head, body) + b"trailing bytes", wanted)

    def test_long_files(self):
        data, wanted = wavs.samples(wavs.PCM, 16, 20)
        head = wavs.format_chunk(wavs.PCM, 1, 16000, 16)
        sizes = wavs.chunk(b"ds64", struct.pack("<QQQI", 100, len(data), 20, 0))
        unknown = wavs.chunk(b"data", data, 0xFFFFFFFF)
        for name in (b"RF64", b"BW64"):
            self.same(wavs.riff(sizes, head, unknown, wavs.chunk(b"LIST", b"more"), name=name, size=0xFFFFFFFF), wanted)

    def test_unknown_sizes(self):
        data, wanted = wavs.samples(wavs.PCM, 16, 20)
        head = wavs.format_chunk(wavs.PCM, 1, 16000, 16)
        self.same(wavs.riff(head, wavs.chunk(b"data", data, 0xFFFFFFFF), size=0xFFFFFFFF), wanted)
        self.same(wavs.riff(head, wavs.chunk(b"data", data, 0), size=0), wanted)
        self.same(wavs.riff(head, wavs.chunk(b"data", data, 4000)), wanted)
        self.same(wavs.riff(head, wavs.chunk(b"data", data))[:-3], wanted[:-2])  # half a sample is left

    def test_broken(self):
        head, body = wavs.format_chunk(wavs.PCM, 1, 16000, 16), wavs.chunk(b"data", b"\0" * 8)
        form = lambda *values, tail=b"": wavs.riff(wavs.chunk(b"fmt ", struct.pack("<HHIIHH", *values) + tail), body)
        self.refused(b"", "neither WAV nor FLAC")
        self.refused(b"RIFF\0\0\0\0WAVX", "neither WAV nor FLAC")
        self.refused(b"OggS" + b"\0" * 40, "an Ogg file")
        self.refused(wavs.riff(body), "no chunk 'fmt '")
        self.refused(wavs.riff(head), "no chunk 'data'")
        self.refused(wavs.riff(wavs.chunk(b"fmt ", b"\1\0\1\0"), body), "has 4 bytes, but needs 16")
        self.refused(wavs.riff(head[:12]), "has 16 bytes, but only 4 follow")
        self.refused(form(1, 0, 16000, 0, 0, 16), "channels, got 0")
        self.refused(form(1, 5000, 16000, 0, 10000, 16), "channels, got 5000")
        self.refused(form(1, 1, 0, 0, 2, 16), "Hz, got 0")
        self.refused(form(1, 2, 16000, 0, 3, 16), "2 channels of 16 bits with coding 1 do not make frames of 3 bytes")
        self.refused(form(1, 1, 16000, 0, 8, 64), "do not make frames of 8 bytes")
        self.refused(form(3, 1, 16000, 0, 2, 16), "do not make frames of 2 bytes")
        self.refused(form(0x55, 1, 16000, 0, 1, 0), "coding 85")
        self.refused(form(0xFFFE, 1, 16000, 0, 2, 16), "has 16 bytes, but needs 40")
        self.refused(form(0xFFFE, 1, 16000, 0, 2, 16, tail=b"\1" * 24), "unknown GUID")

    def test_flac(self):
        for path in sorted(DATA.glob("*.flac")):
            with self.subTest(file=path.name):
                wanted = self.probe.decode(path.with_suffix(".wav").read_bytes())
                rate = self.probe.details["rate"]
                np.testing.assert_array_equal(self.probe.decode(path.read_bytes()), wanted)
                self.assertEqual(self.probe.details["rate"], rate)
                np.testing.assert_array_equal(self.probe.decode(path.read_bytes() + b"TAG" + b"\0" * 125), wanted)

    def test_broken_flac(self):
        data = (DATA / "stereo16.flac").read_bytes()
        self.refused(data[:len(data) // 2], "broken FLAC")
        self.refused(data[:20], "broken FLAC")
        self.refused(b"fLaC", "broken FLAC")
        for at in range(len(data) - 60, len(data) - 20, 7):
            self.refused(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:], "broken FLAC")
        sum_at = 4 + 4 + 18  # the MD5 sum in the stream info
        self.refused(data[:sum_at] + bytes(byte ^ 255 for byte in data[sum_at:sum_at + 16]) + data[sum_at + 16:], "MD5 sum")

    def test_a_damaged_frame_of_flac_before_good_ones(self):
        blocks = [[1000 * number + i for i in range(flacs.BLOCK)] for number in range(4)]
        data = flacs.flac(blocks)
        np.testing.assert_array_equal(self.probe.decode(data).ravel() * 32768, np.ravel(blocks))
        for at in (2, 5, 6, 100, flacs.FRAME - 1):  # in the second frame: block size, checksums, samples
            at += len(data) - 3 * flacs.FRAME
            self.refused(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:], "broken FLAC after 192 frames")

    def test_encode(self):
        x = np.linspace(-1.2, 1.2, 101, dtype=np.float32).reshape(-1, 1) * np.array([1, -0.5], np.float32)
        x[3, 0] = np.nan
        np.save(self.probe.path("x.npy"), x)
        for name, full in (("pcm16", 2 ** 15), ("pcm24", 2 ** 23), ("float32", 0)):
            self.probe.send("encode", self.probe.path("x.npy"), self.probe.path("x.wav"), format=name, rate=22050)
            data = self.probe.path("x.wav").read_bytes()
            self.assertEqual(struct.unpack("<I", data[4:8])[0], len(data) - 8)
            wanted = np.clip(np.rint(np.nan_to_num(x.astype(np.float64)) * full), -full, full - 1) / full if full else x
            np.testing.assert_array_equal(self.probe.decode(data), np.float32(wanted))
            self.assertEqual(self.probe.details["rate"], 22050)


if __name__ == "__main__":
    unittest.main()
