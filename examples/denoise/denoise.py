"""Removes noise from speech, 8 ms at a time as a phone would. usage: denoise.py MODEL1 MODEL2 WAV OUTPUT"""
import sys
import wave

import numpy as np
import tern
from PIL import Image

first, second, path, output = sys.argv[1:]
with wave.open(path) as file:
    clean = np.frombuffer(file.readframes(16000 * 6), np.int16).astype(np.float32) / 32768
noisy = clean + np.random.default_rng(0).normal(0, 0.02, clean.shape).astype(np.float32)

# Each model has an input and an output for its memory. As states, the predictor keeps them between calls.
mask = tern.load(first, threads=1, states="input_3=tf_op_layer_stack_2")
sound = tern.load(second, threads=1, states="input_5=tf_op_layer_stack_5")
block, result = np.zeros(512, np.float32), np.zeros(len(noisy) + 512, np.float32)
for at in range(0, len(noisy) - 128, 128):
    block = np.concatenate([block[128:], noisy[at:at + 128]])
    spectrum = np.fft.rfft(block)
    gain = mask(np.abs(spectrum).astype(np.float32)[None, None])["activation_2"][0, 0]
    estimate = np.fft.irfft(spectrum * gain).astype(np.float32)
    result[at:at + 512] += sound(estimate[None, None])["conv1d_3"][0, 0]
result = result[384:384 + len(noisy)]  # a block ends with its newest 8 ms


def ratio(x):
    return 10 * np.log10(np.sum(clean**2) / np.sum((x - clean) ** 2))


def spectrogram(x):
    frames = np.lib.stride_tricks.sliding_window_view(x, 512)[::120] * np.hanning(512)
    level = 20 * np.log10(np.abs(np.fft.rfft(frames)[:, :128]) + 1e-3)
    return Image.fromarray(np.uint8(np.clip((level + 40) * 3.5, 0, 255)).T[::-1])


print(f"signal to noise: {ratio(noisy):.1f} dB before, {ratio(result):.1f} dB after")
Image.fromarray(np.vstack([spectrogram(noisy), np.full((4, spectrogram(noisy).width), 255, np.uint8), spectrogram(result)])).save(output)
