"""Marks where somebody speaks in a WAV file of 16 kHz. usage: voice.py MODEL WAV OUTPUT

The model estimates for each 10 ms and frequency how much of the sound is speech. Its mean over the frequencies of a voice tells
speech from noise.
"""
import sys
import wave

import numpy as np
import tern
from PIL import Image, ImageDraw

model, path, output = sys.argv[1:]
with wave.open(path) as file:
    sound = np.frombuffer(file.readframes(16000 * 20), np.int16).astype(np.float32) / 32768

window = np.sqrt(np.hanning(321)[:320]).astype(np.float32)
frames = np.lib.stride_tricks.sliding_window_view(sound, 320)[::160] * window
power = np.abs(np.fft.rfft(frames)) ** 2
features = np.log10(np.maximum(power, 1e-12)).astype(np.float32)[None]
state = np.zeros((1, 1, 400), np.float32)
gain = tern.load(model)(input=features, h0_a=state, h0_b=state)["output"][0, :, 3:80].mean(axis=1)

loud = np.convolve(gain, np.ones(30) / 30, "same") > 0.25  # smooth over 0.3 s
edges = np.flatnonzero(np.diff(np.r_[0, loud, 0]))
spans = [(a / 100, b / 100) for a, b in zip(edges[::2], edges[1::2]) if b - a > 25]
print(f"{sum(b - a for a, b in spans):.0f} s of speech in {len(sound) / 16000:.0f} s, {len(spans)} parts")
for a, b in spans[:3]:
    print(f"{a:5.1f} s to {b:5.1f} s")

picture = Image.new("RGB", (800, 120), "white")
draw = ImageDraw.Draw(picture)
for a, b in spans:
    draw.rectangle((a * 40, 0, b * 40, 120), "#c8efe8")
for x, part in enumerate(np.array_split(sound, 800)):
    draw.line((x, 60 - 58 * np.abs(part).max(), x, 60 + 58 * np.abs(part).max()), "#37474f")
picture.save(output)
