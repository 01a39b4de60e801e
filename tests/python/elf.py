"""Reads which shared libraries an ELF file needs."""

import struct

NEEDED, STRTAB, SONAME, RPATH, RUNPATH = 1, 5, 14, 15, 29
LOAD, DYNAMIC = 1, 2


def is_elf(data):
    return data[:4] == b"\x7fELF"


class Elf:
    """`needed`, `rpath` and `runpath` of a 64-bit little-endian ELF file, given its bytes."""

    def __init__(self, data):
        if not is_elf(data) or data[4:6] != b"\x02\x01":
            raise ValueError("this is not a 64-bit little-endian ELF file")
        offset, = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", data, offset + i * size) for i in range(count)]
        loads = [h for h in headers if h[0] == LOAD]
        entries = [entry for h in headers if h[0] == DYNAMIC for entry in struct.iter_unpack("<QQ", data[h[2]:h[2] + h[5] // 16 * 16])]
        self.needed, self.rpath, self.runpath = [], "", ""
        if not entries:
            return
        address = dict(entries)[STRTAB]
        strings = next(address - h[3] + h[2] for h in loads if h[3] <= address < h[3] + h[5])

        def text(at):
            return data[strings + at:data.index(b"\0", strings + at)].decode()

        self.needed = [text(value) for tag, value in entries if tag == NEEDED]
        self.rpath = "".join(text(value) for tag, value in entries if tag == RPATH)
        self.runpath = "".join(text(value) for tag, value in entries if tag == RUNPATH)
