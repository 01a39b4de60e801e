"""Rewrites the index of a variables bundle so that its blocks are compressed with Snappy."""

import struct

FOOTER, MAGIC = 48, 0xDB4775248B80FB57


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def mask(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def take_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def compress(data):
    """Snappy with literals, and copies of runs of equal bytes."""
    out, at = varint(len(data)), 0
    while at < len(data):
        run = 1
        while at + run < len(data) and data[at + run] == data[at] and run < 60:
            run += 1
        if run >= 8:
            out += bytes([0, data[at], (run - 2) << 2 | 2, 1, 0])
            at += run
        else:
            out += bytes([0, data[at]])
            at += 1
    return out


def entries(block):
    restarts = struct.unpack("<I", block[-4:])[0]
    end, at, key = len(block) - 4 - 4 * restarts, 0, b""
    while at < end:
        shared, at = take_varint(block, at)
        fresh, at = take_varint(block, at)
        size, at = take_varint(block, at)
        key = key[:shared] + block[at:at + fresh]
        yield key, block[at + fresh:at + fresh + size]
        at += fresh + size


def rewrite(path):
    data = path.read_bytes()
    _, at = take_varint(data, len(data) - FOOTER)
    _, at = take_varint(data, at)
    offset, at = take_varint(data, at)
    size, at = take_varint(data, at)
    out = b""

    def append(block):
        nonlocal out
        stored = compress(block) + b"\x01"
        handle = varint(len(out)) + varint(len(stored) - 1)
        out += stored + struct.pack("<I", mask(crc32c(stored)))
        return handle

    index = b""
    for key, handle in entries(data[offset:offset + size]):
        start, next_at = take_varint(handle, 0)
        length, _ = take_varint(handle, next_at)
        place = append(data[start:start + length])
        index += varint(0) + varint(len(key)) + varint(len(place)) + key + place
    tail = struct.pack("<II", 0, 1)
    handles = append(tail) + append(index + tail)
    path.write_bytes(out + handles.ljust(FOOTER - 8, b"\0") + struct.pack("<Q", MAGIC))
