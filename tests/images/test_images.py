"""Compares decoding, resizing, colours and tensors with Pillow and numpy."""

import itertools
import os
import pathlib
import sys
import tempfile
import unittest
import warnings

import numpy as np
from PIL import Image, ImageOps

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pictures  # noqa: E402
from driver import Driver, DriverError  # noqa: E402

FILTERS = {"nearest": Image.Resampling.NEAREST, "box": Image.Resampling.BOX, "bilinear": Image.Resampling.BILINEAR,
           "hamming": Image.Resampling.HAMMING, "bicubic": Image.Resampling.BICUBIC, "lanczos": Image.Resampling.LANCZOS}
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def pillow_rgb(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about transparent palettes
        return np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB"))


def shorter_side(size, side):
    width, height = size
    return (side, int(side * height / width)) if width <= height else (int(side * width / height), side)


def pillow_tensor(image, side, crop, resample):
    """The usual preparation of ImageNet pictures."""
    image = image.resize(shorter_side(image.size, side), resample)
    left, top = round((image.width - crop) / 2), round((image.height - crop) / 2)
    pixels = np.asarray(image.crop((left, top, left + crop, top + crop)), np.float32) / 255
    return ((pixels - np.float32(MEAN)) / np.float32(STD)).transpose(2, 0, 1)[None]


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)
        cls.driver = Driver()
        cls.addClassCleanup(cls.driver.close)
        cls.isas = ["base"]
        try:
            cls.driver.command("isa", "avx2")
            cls.isas.append("avx2")
        except DriverError:
            pass

    def save(self, array):
        path = self.dir / "picture.png"
        Image.fromarray(array).save(path)
        return path


class Decode(ImageTest):
    def test_every_format(self):
        for size in ((37, 53), (1, 1), (3, 70)):
            for name, extension, data in pictures.all_pictures(*size):
                with self.subTest(name, size=size):
                    path = self.dir / f"picture.{extension}"
                    path.write_bytes(data)
                    np.testing.assert_array_equal(self.driver.image("convert", path, "rgb"), pillow_rgb(path))

    def test_gray_stays_gray(self):
        path = self.save(pictures.scene(5, 6)[..., 0])
        self.assertEqual(self.driver.image("decode", path).shape, (5, 6))

    def test_16_bits_keep_the_high_byte(self):
        gray = np.array([[0, 255, 256, 0x1280, 65535]], np.uint16)
        Image.fromarray(gray).save(self.dir / "gray16.png")
        np.testing.assert_array_equal(self.driver.image("decode", self.dir / "gray16.png"), gray >> 8)

    def test_errors_name_the_format(self):
        rgb = Image.fromarray(pictures.scene(40, 50))
        for extension, make in pictures.FORMATS.items():
            name, data = next(iter(make(rgb)))
            path = self.dir / f"cut.{extension}"
            path.write_bytes(data[:len(data) // 2])
            kind = {"jpg": "JPEG", "webp": "WebP"}.get(extension, extension.upper())
            with self.subTest(name, extension=extension), self.assertRaisesRegex(DriverError, f"broken {kind}.*cut"):
                self.driver.image("decode", path)
        (self.dir / "text.png").write_text("hello")
        with self.assertRaisesRegex(DriverError, "neither JPEG, PNG, WebP, BMP nor GIF"):
            self.driver.image("decode", self.dir / "text.png")


class Resize(ImageTest):
    def check(self, array, size, name, box=None):
        path = self.save(array)
        want = np.asarray(Image.fromarray(array).resize(size, FILTERS[name], box=box))
        for isa in self.isas:
            with self.subTest(name, shape=array.shape, size=size, box=box, isa=isa):
                self.driver.command("isa", isa)
                np.testing.assert_array_equal(self.driver.image("resize", path, *size, name, *(box or ())), want)

    def test_filters_and_sizes(self):
        for shape, name in itertools.product(((7, 5), (37, 53, 3), (131, 17), (20, 90, 3)), FILTERS):
            height, width = shape[:2]
            array = pictures.scene(height, width)
            array = array if len(shape) == 3 else array[..., 1]
            for size in ((1, 1), (16, 16), (width, 2 * height), (2 * width + 1, height), (width // 3, height // 2), (64, 48)):
                self.check(array, size, name)

    def test_boxes(self):
        array = pictures.scene(37, 53)
        for name, size in itertools.product(FILTERS, ((3, 9), (53, 37), (100, 80))):
            self.check(array, size, name, (0.3, 1.25, 52.3, 35.9))
            self.check(array, size, name, (10, 5, 40, 30))


class Colours(ImageTest):
    def test_conversions(self):
        array = np.random.default_rng(1).integers(0, 256, (200, 300, 3), np.uint8)
        image, path = Image.fromarray(array), self.save(array)
        np.testing.assert_array_equal(self.driver.image("convert", path, "gray"), np.asarray(image.convert("L")))
        np.testing.assert_array_equal(self.driver.image("convert", path, "ycbcr"), np.asarray(image.convert("YCbCr")))
        from_ycbcr = Image.frombytes("YCbCr", image.size, array.tobytes()).convert("RGB")
        np.testing.assert_array_equal(self.driver.image("convert", path, "from_ycbcr"), np.asarray(from_ycbcr))


class Tensors(ImageTest):
    def tensor(self, path, isa="base", **options):
        self.driver.command("isa", isa)
        return self.driver.tensor(path, **options)

    def test_the_preparation_of_imagenet(self):
        numbers = {"mean": ",".join(map(str, MEAN)), "std": ",".join(map(str, STD))}
        for (height, width), isa, name in itertools.product(((90, 61), (50, 200)), self.isas, ("bilinear", "bicubic")):
            array = pictures.scene(height, width)
            want, path = pillow_tensor(Image.fromarray(array), 48, 40, FILTERS[name]), self.save(array)
            options = dict(fit="shorter", size=48, crop=40, filter=name, **numbers)
            with self.subTest(name, size=(height, width), isa=isa):
                np.testing.assert_allclose(self.tensor(path, isa, **options), want, rtol=0, atol=1e-6)
                last = self.tensor(path, isa, layout="NHWC", **options)
                np.testing.assert_allclose(last, want.transpose(0, 2, 3, 1), rtol=0, atol=1e-6)

    def test_other_types(self):
        array = pictures.scene(20, 30)
        path, want = self.save(array), np.asarray(Image.fromarray(array).resize((9, 7), Image.Resampling.BILINEAR))
        options = dict(fit="stretch", size="9,7", layout="NHWC", scale=1)
        self.driver.command("isa", "base")
        np.testing.assert_array_equal(self.driver.tensor(path, np.uint8, **options | {"dtype": "u8"})[0], want)
        half = self.driver.tensor(path, np.float16, **options | {"dtype": "f16", "scale": 1 / 255})[0]
        np.testing.assert_allclose(half, want / 255, rtol=0, atol=1e-3)

    def test_letterbox(self):
        array = pictures.scene(30, 60)
        padded = ImageOps.pad(Image.fromarray(array), (40, 40), Image.Resampling.BILINEAR, color=(114, 114, 114))
        got = self.tensor(self.save(array), fit="letterbox", size="40,40", scale=1, layout="NHWC")
        np.testing.assert_array_equal(got[0], np.asarray(padded, np.float32))


@unittest.skipUnless(os.environ.get("TERN_ZOO"), "needs TERN_ZOO")
class Photos(ImageTest):
    def test_published_pictures(self):
        data = pathlib.Path(os.environ["TERN_ZOO"]) / "data"
        photos = [p for p in sorted((data / "images").glob("*.*")) if p.suffix in (".jpg", ".jpeg", ".png", ".bmp")]
        for path in photos + sorted((data / "imagenet").glob("*.jpg"))[:20]:
            with self.subTest(path.name):
                want = pillow_rgb(path)
                np.testing.assert_array_equal(self.driver.image("convert", path, "rgb"), want)
                resized = Image.fromarray(want).resize((224, 224), Image.Resampling.BICUBIC)
                got = self.driver.tensor(path, fit="stretch", size="224,224", filter="bicubic", scale=1, layout="NHWC")
                np.testing.assert_array_equal(got[0], np.asarray(resized, np.float32))


if __name__ == "__main__":
    unittest.main()
