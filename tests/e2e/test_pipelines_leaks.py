"""A server with pipelines under bad, truncated, huge and abandoned requests: its memory must not grow.

TERN_LEAK_ROUNDS=500 runs a longer test and prints the memory.
"""

import concurrent.futures
import io
import os
import random
import re
import shutil
import socket
import struct
import unittest
import zlib

import numpy as np
from PIL import Image

from serving import ROOT
from test_pipelines import DIGITS, SEVEN, SPEECH, PipelineTest, png, speech_model, wav

ROUNDS = int(os.environ.get("TERN_LEAK_ROUNDS", "12"))
SETTLED = 6  # rounds until the allocator's pools have their final size
GROWTH = 6 << 10  # KiB that the later rounds may add: one leaked body of each round would be more


def picture(kind, **options):
    pixels = np.random.default_rng(1).integers(0, 256, (120, 160, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def damaged(data, rng):
    """Returns the file with a few other bytes, cut off, or with bytes left out."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.5:
        return bytes(data[:rng.randrange(len(data))])
    at = rng.randrange(len(data))
    return bytes(data[:at] + data[at + rng.randrange(1, 50):])


class Leaks(PipelineTest):
    def setUp(self):
        super().setUp()
        self.text_folder()
        self.folder("speech", speech_model(), SPEECH)
        shutil.copytree(DIGITS, self.dir / "models/digits/1")
        self.server = self.serve("--repository", self.dir / "models")
        self.pictures = [SEVEN, picture("JPEG"), picture("JPEG", progressive=True), picture("PNG"), picture("GIF"), picture("WEBP"), picture("BMP")]
        self.sounds = [wav(np.zeros(4000)), *(path.read_bytes() for path in sorted((ROOT / "tests/data/audio").glob("*.flac")))]

    def requests(self, rng):
        """Returns the requests of one round: model, type, body."""
        out = [("digits", "image/png", damaged(file, rng)) for file in self.pictures * 3]
        out += [("speech", "audio/wav", damaged(file, rng)) for file in self.sounds * 3]
        out += [("digits", "image/png", png(2000, 2000, zlib.compress(bytes(2000 * 2001)))),  # valid, 4 MB decoded
                ("digits", "image/png", png(60000, 60000, zlib.compress(bytes(1 << 20)))),  # announces 3.6 GB
                ("digits", "image/jpeg", rng.randbytes(1 << 20)), ("speech", "audio/wav", b"RIFF" + rng.randbytes(1 << 20)),
                ("text", "text/plain", b"\xff" * 5000), ("text", "text/plain", b"cats " * 300_000), ("text", "text/plain", b"cats " * 30_000),
                ("digits", "image/png", SEVEN), ("speech", "audio/wav", wav([0.5] * 2000))]
        lengths = b"".join(struct.pack("<I", len(SEVEN)) + SEVEN for _ in range(8))
        for data in (lengths, lengths[:-7], struct.pack("<I", 1 << 31) + lengths):
            head = (f'{{"inputs":[{{"name":"image","datatype":"BYTES","shape":[8],"parameters":{{"binary_data_size":{len(data)}}}}}]}}').encode()
            out.append(("digits", len(head), head + data))
        return out

    def send(self, request):
        model, kind, body = request
        header = {"Inference-Header-Content-Length": str(kind)} if isinstance(kind, int) else {"Content-Type": kind}
        status, _, answer = self.server.call("POST", f"/v2/models/{model}/infer", body, header)
        self.assertIn(status, (200, 400), answer[:300])
        self.assertNotIn(b"internal", answer)

    def abandon(self, request, rng):
        """Sends a request, or a part of it, and closes the connection at once."""
        model, kind, body = request
        field = f"Inference-Header-Content-Length: {kind}" if isinstance(kind, int) else f"Content-Type: {kind}"
        head = f"POST /v2/models/{model}/infer HTTP/1.1\r\nHost: x\r\n{field}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", self.server.ports["http"]), timeout=30) as connection:
            connection.sendall((head + body)[:len(head) + (len(body) if rng.random() < 0.7 else rng.randrange(len(body) + 1))])

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def test_memory_does_not_grow(self):
        rng, sizes, sent = random.Random(1), [], 0
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for _ in range(ROUNDS):
                requests = self.requests(rng)
                list(pool.map(self.send, requests))
                for request in rng.sample(requests, 8):
                    self.abandon(request, rng)
                sent += len(requests) + 8
                sizes.append(self.resident())
        if "TERN_LEAK_ROUNDS" in os.environ:
            print(f"{sent} requests; resident MiB after each tenth of them:", *(f"{size / 1024:.1f}" for size in sizes[::max(1, ROUNDS // 10)]))
        self.assertLess(max(sizes[SETTLED:]) - max(sizes[:SETTLED]), GROWTH, sizes)
        self.assertEqual(self.server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
