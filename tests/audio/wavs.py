"""Writes WAV files of every kind, with the samples that a decoder must return."""

import struct

import numpy as np

GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")
PCM, FLOAT, A_LAW, MU_LAW, EXTENSIBLE = 1, 3, 6, 7, 0xFFFE


def chunk(name, body, size=None):
    return name + struct.pack("<I", len(body) if size is None else size) + body + b"\0" * (len(body) % 2)


def format_chunk(tag, channels, rate, bits, extensible=False, container=None):
    size = container or (bits + 7) // 8
    body = struct.pack("<HHIIHH", EXTENSIBLE if extensible else tag, channels, rate, rate * channels * size, channels * size,
                       size * 8 if extensible else bits)
    if extensible:
        body += struct.pack("<HHIH", 22, bits, 0, tag) + GUID_TAIL
    return chunk(b"fmt ", body)


def riff(*chunks, name=b"RIFF", size=None):
    body = b"WAVE" + b"".join(chunks)
    return name + struct.pack("<I", len(body) if size is None else size) + body


def mu_law(code):
    code = ~code & 0xFF
    magnitude = ((2 * (code & 15) + 33) << (code >> 4 & 7)) - 33
    return (-magnitude if code & 128 else magnitude) * 4 / 32768


def a_law(code):
    code ^= 0x55
    exponent, mantissa = code >> 4 & 7, code & 15
    magnitude = 2 * mantissa + 1 if exponent == 0 else (2 * mantissa + 33) << (exponent - 1)
    return (magnitude if code & 128 else -magnitude) * 8 / 32768


def samples(tag, bits, count, seed=0):
    """Returns random bytes of `count` samples and the floats they mean."""
    rng = np.random.default_rng(seed)
    if tag == FLOAT:
        values = rng.standard_normal(count).astype(f"<f{bits // 8}")
        return values.tobytes(), values.astype(np.float32)
    raw = rng.integers(0, 256, count * bits // 8, dtype=np.uint8)
    if tag == MU_LAW:
        return raw.tobytes(), np.array([mu_law(int(code)) for code in raw], np.float32)
    if tag == A_LAW:
        return raw.tobytes(), np.array([a_law(int(code)) for code in raw], np.float32)
    if bits == 8:
        return raw.tobytes(), ((raw.astype(np.float64) - 128) / 128).astype(np.float32)
    rows = np.pad(raw.reshape(count, bits // 8), ((0, 0), (4 - bits // 8, 0)))
    return raw.tobytes(), (np.ascontiguousarray(rows).view("<i4")[:, 0] / 2.0 ** 31).astype(np.float32)


KINDS = [(PCM, 8), (PCM, 16), (PCM, 24), (PCM, 32), (FLOAT, 32), (FLOAT, 64), (MU_LAW, 8), (A_LAW, 8)]
