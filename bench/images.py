#!/usr/bin/env python3
"""Compares the speed of decoding and of pixels to tensor with Pillow and numpy, on one thread.

usage: images.py [FOLDER…]    FOLDER has pictures; without one, pictures are made

Both sides run in turns, and the least CPU time of each counts, so that other programs matter little. Prints the times, the
ratio Pillow / Tern, and the share of elements that are equal bit for bit.
"""

import io
import math
import pathlib
import sys
import tempfile
import time

import numpy as np
from PIL import Image, ImageOps

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/images"))

import pictures  # noqa: E402
from driver import Driver  # noqa: E402

ROUNDS, CALLS = 12, 4
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
FILTERS = {"nearest": 0, "bilinear": 2, "bicubic": 3, "lanczos": 1}


def pillow_seconds(call):
    start = time.thread_time()
    for _ in range(CALLS):
        call()
    return (time.thread_time() - start) / CALLS


def compare(call, tern):
    """Returns the least times of Pillow and Tern, which run in turns."""
    call(), tern()
    times = [(pillow_seconds(call), tern()) for _ in range(ROUNDS)]
    return min(t[0] for t in times), min(t[1] for t in times)


def decode(data):
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")


def prepare(image, name):
    width, height = image.size
    size = (256, int(256 * height / width)) if width <= height else (int(256 * width / height), 256)
    image = image.resize(size, FILTERS[name])
    left, top = round((size[0] - 224) / 2), round((size[1] - 224) / 2)
    pixels = np.asarray(image.crop((left, top, left + 224, top + 224)), np.float32) / 255
    return np.ascontiguousarray(((pixels - MEAN) / STD).transpose(2, 0, 1))[None]


def row(title, detail, times, same):
    print(f"{title:28} {detail:22} {times[0] * 1e3:9.3f} {times[1] * 1e3:9.3f} {times[0] / times[1]:7.2f}x  {same:7.2%}", flush=True)
    return times[0] / times[1]


def geomean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def compare_decoding(driver, path):
    data = path.read_bytes()
    times = compare(lambda: decode(data).load(), lambda: driver.seconds("time_decode", path, CALLS))
    same = np.mean(driver.image("convert", path, "rgb") == np.asarray(decode(data)))
    return row(f"decode {path.name}", f"{len(data)} bytes", times, same)


def compare_tensor(driver, path, name):
    image = decode(path.read_bytes())
    options = dict(fit="shorter", size=256, crop=224, filter=name, mean="0.485,0.456,0.406", std="0.229,0.224,0.225")
    words = [f"{key}={value}" for key, value in options.items()]
    times = compare(lambda: prepare(image, name), lambda: driver.seconds("time_tensor", path, CALLS, *words))
    # In units of pixels, because both sides round the normalised numbers.
    pixels = [np.rint((t * STD[:, None, None] + MEAN[:, None, None]) * 255) for t in (driver.tensor(path, **options), prepare(image, name))]
    return row(f"tensor {path.name}", f"{image.width}x{image.height} {name}", times, np.mean(pixels[0] == pixels[1]))


def made_pictures(folder):
    """Pictures of 640 x 480 in the formats and modes that are most common."""
    rgb = Image.fromarray(pictures.scene(480, 640))
    kinds = {"baseline.jpg": dict(quality=90), "progressive.jpg": dict(quality=90, progressive=True), "rgb.png": {}, "gray.png": {},
             "palette.png": {}, "lossy.webp": {}, "lossless.webp": dict(lossless=True), "rgb.bmp": {}, "palette.gif": {}}
    for name, options in kinds.items():
        image = rgb.convert("L") if name.startswith("gray") else rgb.quantize(256) if name.startswith("palette") else rgb
        image.save(folder / name, **options)
        yield folder / name


def given_pictures(folders):
    for folder in folders:
        yield from (p for p in sorted(pathlib.Path(folder).iterdir()) if p.suffix in (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif"))


def main():
    driver = Driver()
    print(f"{'':28} {'':22} {'Pillow ms':>9} {'Tern ms':>9} {'ratio':>8}  {'equal':>7}")
    with tempfile.TemporaryDirectory() as folder:
        paths = list(given_pictures(sys.argv[1:]) if sys.argv[1:] else made_pictures(pathlib.Path(folder)))
        decoding = [compare_decoding(driver, path) for path in paths]
        photos = [path for path in paths if min(decode(path.read_bytes()).size) >= 256][:8]
        tensors = [compare_tensor(driver, path, name) for path in photos[:4] for name in FILTERS]
    print(f"geometric mean of the ratios: decode {geomean(decoding):.2f}x, pixels to tensor {geomean(tensors):.2f}x")
    driver.close()


if __name__ == "__main__":
    main()
