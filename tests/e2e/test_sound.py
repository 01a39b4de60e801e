"""Sound files as inputs of `tern run`."""

import wave

import numpy as np
from onnx import TensorProto, helper
from support import FLOAT, CliTest, make_model


class Sound(CliTest):
    def model(self, dims, dtype=FLOAT):
        return self.save(make_model([helper.make_node("Identity", ["x"], ["y"])], {"x": (dtype, dims)}, {"y": (dtype, dims)}))

    def wav(self, samples, rate=16000):
        """Writes int16 samples [frames] or [frames, channels]."""
        with wave.open(str(self.dir / "x.wav"), "wb") as file:
            file.setnchannels(1 if samples.ndim == 1 else samples.shape[1])
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(samples.astype("<i2").tobytes())
        return self.dir / "x.wav"

    def outputs(self, model, *args, **options):
        return np.array(self.json("run", model, *args, "--json", **options)["outputs"]["y"]["data"])

    def test_dims(self):
        samples = np.array([0, 16384, -32768, 8192])
        path = self.wav(samples)
        for dims in (["N"], [1, "N"], [1, 1, 4]):
            with self.subTest(dims=dims):
                got = self.outputs(self.model(dims), "--input", f"x={path}")
                np.testing.assert_array_equal(got, (samples / 32768).reshape([1] * (len(dims) - 1) + [4]))

    def test_channels_are_mixed(self):
        path = self.wav(np.array([[16384, 0], [0, -16384]]))
        np.testing.assert_array_equal(self.outputs(self.model(["N"], TensorProto.DOUBLE), "--input", path), [0.25, -0.25])

    def test_resampling(self):
        t = np.arange(4800) / 48000
        path = self.wav(np.rint(20000 * np.sin(2 * np.pi * 500 * t)), 48000)
        got = self.outputs(self.model([1, "N"]), "--input", path, "--sample-rate", "16000")[0]
        self.assertEqual(len(got), 1600)
        np.testing.assert_allclose(got[300:1300], 20000 / 32768 * np.sin(2 * np.pi * 500 * np.arange(1600) / 16000)[300:1300], atol=1e-4)

    def test_mistakes(self):
        path = self.wav(np.zeros(100))
        self.refused("run", self.model([1, 50]), "--input", path, says=["dim 1 is 100, but must be 50"])
        self.refused("run", self.model([1, 1, 1, "N"]), "--input", path, says=["needs floats [N], [1,N] or [1,1,N]"])
        self.refused("run", self.model(["N"], TensorProto.INT64), "--input", path, says=["'x' is i64[N]", "needs floats"])
        self.refused("run", self.model(["N"]), "--input", path, "--sample-rate", "0", says=["--sample-rate 0"])
        self.refused("run", self.model(["N"]), "--input", path, "--sample-rate", "10", says=["cannot resample from 16000 Hz to 10 Hz"])
        self.refused("run", self.model(["N"]), "--random", "1", "--sample-rate", "8000", says=["--sample-rate is for sound"])
        path.write_bytes(b"RIFF\0\0\0\0WAVEjunk")
        self.refused("run", self.model(["N"]), "--input", path, says=["broken WAV", "x.wav"])
