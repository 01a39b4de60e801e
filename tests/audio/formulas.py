"""The formulas of librosa, torchaudio, Whisper and Kaldi in numpy and double precision. Also the framing of torch.stft."""

import numpy as np

PAD = {"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}


def window(name, length, periodic=True):
    if length == 1:
        return np.ones(1)
    phase = np.arange(length) / (length if periodic else length - 1)
    cos = np.cos(2 * np.pi * phase)
    return {"hann": 0.5 - 0.5 * cos, "hamming": 0.54 - 0.46 * cos, "povey": np.abs(0.5 - 0.5 * cos) ** 0.85,
            "blackman": 0.42 - 0.5 * cos + 0.08 * np.cos(4 * np.pi * phase), "bartlett": 1 - np.abs(2 * phase - 1),
            "rectangular": np.ones(length)}[name]


def frame_window(n_fft, win_length, name, periodic):
    length = win_length or n_fft
    left = (n_fft - length) // 2
    return np.pad(window(name, length, periodic), (left, n_fft - length - left))


def frames(x, length, hop):
    count = 1 + (len(x) - length) // hop
    return np.stack([x[i * hop:i * hop + length] for i in range(count)])


def stft(x, n_fft=400, hop_length=160, win_length=0, window="hann", periodic=1, center=1, pad_mode="reflect", normalized=0, onesided=1):
    x = np.asarray(x, np.float64)
    if center:
        x = np.pad(x, n_fft // 2, PAD[pad_mode])
    rows = frames(x, n_fft, hop_length) * frame_window(n_fft, win_length, window, periodic)
    out = (np.fft.rfft if onesided else np.fft.fft)(rows, axis=-1).T
    return out / np.sqrt(n_fft) if normalized else out


def hz_to_mel(f, scale):
    f = np.asarray(f, np.float64)
    if scale == "htk":
        return 2595 * np.log10(1 + f / 700)
    return np.where(f < 1000, f * 3 / 200, 15 + np.log(np.maximum(f, 1e-9) / 1000) * 27 / np.log(6.4))


def mel_to_hz(m, scale):
    if scale == "htk":
        return 700 * (10 ** (m / 2595) - 1)
    return np.where(m < 15, m * 200 / 3, 1000 * np.exp(np.log(6.4) / 27 * (m - 15)))


def mel_bank(n_fft=400, sample_rate=16000, n_mels=80, f_min=0.0, f_max=0.0, scale="htk", norm="none"):
    """[n_mels, n_fft // 2 + 1], as librosa.filters.mel."""
    ends = hz_to_mel([f_min, f_max or sample_rate / 2], scale)
    edges = mel_to_hz(np.linspace(*ends, n_mels + 2), scale)
    slopes = edges[:, None] - np.linspace(0, sample_rate / 2, n_fft // 2 + 1)[None]
    widths = np.diff(edges)[:, None]
    bank = np.maximum(0, np.minimum(-slopes[:-2] / widths[:-1], slopes[2:] / widths[1:]))
    return bank * (2 / (edges[2:] - edges[:-2]))[:, None] if norm == "slaney" else bank


STFT = ("n_fft", "hop_length", "win_length", "window", "periodic", "center", "pad_mode", "normalized", "onesided")
BANK = ("n_fft", "sample_rate", "n_mels", "f_min", "f_max", "scale", "norm")


def only(options, names):
    return {key: value for key, value in options.items() if key in names}


def log_mel(x, whisper=0, **o):
    if whisper:
        return whisper_mel(x, o.get("n_mels", 80))
    x = np.asarray(x, np.float64)
    if o.get("preemphasis"):
        x = np.append(x[:1], x[1:] - o["preemphasis"] * x[:-1])
    mel = mel_bank(**only(o, BANK)) @ np.abs(stft(x, **only(o, STFT))) ** o.get("power", 2)
    offset, log = o.get("offset", 1e-6), o.get("log", "natural")
    if log == "natural":
        return np.log(mel + offset)
    if log == "clamped":
        return np.log(np.maximum(mel, offset))
    if log == "decibel":
        decibel = 10 * np.log10(np.maximum(mel, offset))
        return np.maximum(decibel, decibel.max() - o["top_db"]) if o.get("top_db") else decibel
    return mel


def whisper_mel(x, n_mels):
    power = np.abs(stft(x)[:, :-1]) ** 2
    mel = mel_bank(400, 16000, n_mels, scale="slaney", norm="slaney") @ power
    log = np.log10(np.maximum(mel, 1e-10))
    return (np.maximum(log, log.max() - 8) + 4) / 4


def dct(count, size):
    matrix = np.cos(np.pi / size * (np.arange(size) + 0.5)[None] * np.arange(count)[:, None]) * np.sqrt(2 / size)
    matrix[0] /= np.sqrt(2)
    return matrix


def mfcc(x, n_mfcc=13, lifter=0, **o):
    out = dct(n_mfcc, o.get("n_mels", 80)) @ log_mel(x, **o)
    return out * (1 + lifter / 2 * np.sin(np.pi * np.arange(1, n_mfcc + 1) / lifter))[:, None] if lifter else out


def kaldi_frames(x, length, shift, snip_edges):
    if snip_edges:
        return frames(x, length, shift)
    flipped, pad = x[::-1], length // 2 - shift // 2
    padded = np.concatenate([flipped[-pad:], x, flipped])
    return np.stack([padded[i * shift:i * shift + length] for i in range((len(x) + shift // 2) // shift)])


def kaldi_fbank(x, sample_rate=16000, n_mels=80, snip_edges=1, window="povey", low_freq=20.0, high_freq=0.0, **_):
    x = np.asarray(x, np.float64) * 32768
    length, shift = int(sample_rate * 0.025), int(sample_rate * 0.01)
    rows = kaldi_frames(x, length, shift, snip_edges)
    rows = rows - rows.mean(1, keepdims=True)
    rows = rows - 0.97 * np.concatenate([rows[:, :1], rows[:, :-1]], 1)
    n_fft = 1 << (length - 1).bit_length()
    power = np.abs(np.fft.rfft(rows * globals()["window"](window, length, False), n_fft)) ** 2
    mel = lambda f: 1127 * np.log(1 + f / 700)
    high = high_freq if high_freq > 0 else sample_rate / 2 + high_freq
    edges = np.linspace(mel(low_freq), mel(high), n_mels + 2)
    bins = mel(np.arange(n_fft // 2) * sample_rate / n_fft)[None]
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bank = np.maximum(0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))
    return np.log(np.maximum(power[:, :-1] @ bank.T, np.finfo(np.float32).eps))


def kaldi_mfcc(x, n_mfcc=13, **o):
    lifter = 1 + 11 * np.sin(np.pi * np.arange(n_mfcc) / 22)
    return kaldi_fbank(x, **o) @ dct(n_mfcc, o.get("n_mels", 80)).T * lifter


def bessel(x):
    return np.i0(x)


def resample(x, source, target, crossings=64, rolloff=0.9475937167399596, beta=14.769656459379492):
    """torchaudio.functional.resample: sinc_interp_kaiser, or sinc_interp_hann if beta is 0."""
    divisor = np.gcd(source, target)
    source, target = source // divisor, target // divisor
    base = min(source, target) * rolloff
    out = np.empty(-(-len(x) * target // source))
    width = crossings * source / base
    for n in range(len(out)):
        centre = n * source / target
        taps = np.arange(max(0, int(np.ceil(centre - width))), min(len(x) - 1, int(centre + width)) + 1)
        t = np.clip((taps - centre) * base / source, -crossings, crossings)
        shape = bessel(beta * np.sqrt(1 - (t / crossings) ** 2)) / bessel(beta) if beta else np.cos(t * np.pi / crossings / 2) ** 2
        out[n] = (np.sinc(t) * shape * base / source) @ x[taps]
    return out
