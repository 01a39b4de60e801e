"""Makes small pictures in all formats and modes, as bytes of files."""

import io
import struct

import numpy as np
from PIL import Image


def scene(height, width, seed=0):
    """Smooth waves with some noise: compresses like a photo, and has edges."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (5 + 3 * c) + seed) * np.cos(y / (9 - 2 * c)) * 90 + 128 for c in range(3)]
    picture = np.stack(waves, -1) + rng.normal(0, 12, (height, width, 3))
    picture[height // 3:height // 2, width // 4:width // 2] = [250, 20, 40]
    return np.clip(picture, 0, 255).astype(np.uint8)


def encode(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def exif(orientation):
    data = Image.Exif()
    data[0x112] = orientation
    return data


def jpegs(rgb):
    gray, cmyk = rgb.convert("L"), rgb.convert("CMYK")
    yield "rgb", encode(rgb, "JPEG", quality=90)
    yield "progressive", encode(rgb, "JPEG", quality=80, progressive=True)
    for name, sampling in (("444", 0), ("422", 1), ("420", 2)):
        yield f"sampling_{name}", encode(rgb, "JPEG", quality=75, subsampling=sampling)
    yield "gray", encode(gray, "JPEG", quality=85)
    yield "cmyk", encode(cmyk, "JPEG", quality=95)
    yield "rgb_colours", encode(rgb, "JPEG", quality=90, keep_rgb=True)
    for orientation in range(1, 9):
        yield f"orientation_{orientation}", encode(rgb, "JPEG", exif=exif(orientation))


def pngs(rgb):
    for mode in ("RGB", "L", "RGBA", "LA", "P", "1"):
        yield mode, encode(rgb.convert(mode), "PNG")
    for bits in (1, 2, 4):
        yield f"palette_{bits}", encode(rgb.quantize(1 << bits), "PNG", bits=bits)
    yield "palette_transparent", encode(rgb.quantize(16), "PNG", transparency=3)
    yield "transparent", encode(rgb, "PNG", transparency=(250, 20, 40))
    yield "orientation", encode(rgb, "PNG", exif=exif(6))
    yield "level_0", encode(rgb, "PNG", compress_level=0)


def webps(rgb):
    yield "lossy", encode(rgb, "WEBP", quality=80)
    yield "lossless", encode(rgb, "WEBP", lossless=True)
    yield "alpha", encode(rgb.convert("RGBA"), "WEBP", quality=60)
    yield "orientation", encode(rgb, "WEBP", exif=exif(8))
    yield "animation", encode(rgb, "WEBP", save_all=True, append_images=[rgb.rotate(180)])


def bmp_file(width, height, bits, compression, pixels, palette=b"", masks=b"", top_down=False):
    at = 14 + 40 + len(masks) + len(palette)
    head = struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1, bits, compression,
                       len(pixels), 0, 0, len(palette) // 4, 0)
    return struct.pack("<2sIHHI", b"BM", at + len(pixels), 0, 0, at) + head + masks + palette + pixels


def packed_rows(array):
    """Rows of bytes, padded to multiples of 4, from bottom to top."""
    return b"".join(row.tobytes() + bytes(-len(row.tobytes()) % 4) for row in array[::-1])


def run_length(indices, four):
    """Encodes rows with runs, literals and ends of rows."""
    out = bytearray()
    for row in indices[::-1]:
        x = 0
        while x < len(row):
            run = 1
            while x + run < len(row) and row[x + run] == row[x] and run < 255:
                run += 1
            if run == 1 and x + 3 <= len(row):
                literal = [int(v) for v in row[x:x + 3]]
                data = bytes([literal[0] << 4 | literal[1], literal[2] << 4]) if four else bytes(literal)
                out += bytes([0, 3]) + data + bytes(len(data) % 2)
                x += 3
                continue
            value = int(row[x])
            out += bytes([run, value << 4 | value if four else value])
            x += run
        out += b"\0\0"
    return bytes(out + b"\0\1")


def bmps(rgb):
    for mode in ("RGB", "L", "P", "1", "RGBA"):
        yield mode, encode(rgb.convert(mode), "BMP")
    a = np.asarray(rgb)
    height, width = a.shape[:2]
    wide = a.astype(np.uint16)
    r, g, b = wide[..., 0], wide[..., 1], wide[..., 2]
    yield "555", bmp_file(width, height, 16, 0, packed_rows((r >> 3) << 10 | (g >> 3) << 5 | b >> 3))
    yield "565", bmp_file(width, height, 16, 3, packed_rows((r >> 3) << 11 | (g >> 2) << 5 | b >> 3),
                          masks=struct.pack("<III", 0xf800, 0x7e0, 0x1f))
    bgrx = np.concatenate([a[..., ::-1], a[..., :1]], -1)
    yield "32", bmp_file(width, height, 32, 0, packed_rows(bgrx))
    yield "xbgr", bmp_file(width, height, 32, 3, packed_rows(np.concatenate([a[..., :1], a[..., ::-1]], -1)),
                           masks=struct.pack("<III", 0xff000000, 0xff0000, 0xff00))
    yield "top_down", bmp_file(width, height, 24, 0, packed_rows(a[::-1, :, ::-1]), top_down=True)
    colours = bytes(np.random.default_rng(5).integers(0, 256, 64, dtype=np.uint8))
    indices = (a[..., 0] >> 4).astype(np.uint8)
    padded = np.pad(indices, ((0, 0), (0, width % 2)))
    yield "4", bmp_file(width, height, 4, 0, packed_rows(padded[:, ::2] << 4 | padded[:, 1::2]), colours)
    yield "rle8", bmp_file(width, height, 8, 1, run_length(indices, False), colours)
    yield "rle4", bmp_file(width, height, 4, 2, run_length(indices, True), colours)


def gifs(rgb):
    yield "plain", encode(rgb.quantize(256), "GIF", interlace=False)
    yield "interlaced", encode(rgb.quantize(64), "GIF", interlace=True)
    yield "few", encode(rgb.quantize(2), "GIF")
    yield "gray", encode(rgb.convert("L"), "GIF")
    yield "transparent", encode(rgb.quantize(16), "GIF", transparency=2)
    yield "animation", encode(rgb.quantize(32), "GIF", save_all=True,
                              append_images=[rgb.rotate(180).quantize(32)])
    yield "small_frame", small_frame(encode(rgb.quantize(32), "GIF"), rgb.size)


def small_frame(gif, size):
    """Enlarges the screen, and moves the frame away from the corner."""
    at = gif.index(struct.pack("<cHHHH", b",", 0, 0, *size))
    screen = struct.pack("<HH", size[0] + 7, size[1] + 5)
    return gif[:6] + screen + gif[10:at] + struct.pack("<cHHHH", b",", 3, 2, *size) + gif[at + 9:]


FORMATS = {"jpg": jpegs, "png": pngs, "webp": webps, "bmp": bmps, "gif": gifs}


def all_pictures(height, width, seed=0):
    """Yields the name, the extension and the bytes of each picture."""
    rgb = Image.fromarray(scene(height, width, seed))
    for extension, make in FORMATS.items():
        for name, data in make(rgb):
            yield f"{extension}_{name}", extension, data
