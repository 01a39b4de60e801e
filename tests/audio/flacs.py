"""Writes FLAC files without compression, so that each byte has a known place."""

import struct

RATE, BLOCK = 16000, 192
FRAME = 6 + 1 + 2 * BLOCK + 2  # bytes: head, subframe's head, samples, checksum


def checksum(data, polynomial, bits):
    value = 0
    for byte in data:
        value ^= byte << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ (polynomial if value >> (bits - 1) else 0)) & ((1 << bits) - 1)
    return value


def flac(blocks):
    """Returns a file of mono 16-bit samples with an unknown length and MD5 sum. `blocks` has at most 128 lists of BLOCK samples."""
    info = struct.pack(">HH", BLOCK, BLOCK) + bytes(6) + (RATE << 44 | 15 << 36).to_bytes(8, "big") + bytes(16)
    out = b"fLaC\x80\0\0\x22" + info
    for number, samples in enumerate(blocks):
        head = bytes([0xFF, 0xF8, 0x15, 0x08, number])
        frame = head + bytes([checksum(head, 0x07, 8), 0x02]) + struct.pack(f">{BLOCK}h", *samples)
        out += frame + checksum(frame, 0x8005, 16).to_bytes(2, "big")
    return out
