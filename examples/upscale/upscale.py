"""Enlarges a picture three times. usage: upscale.py MODEL PICTURE OUTPUT"""
import sys

import numpy as np
import tern
from PIL import Image

model, picture, output = sys.argv[1:]
picture = Image.open(picture).convert("RGB")
side = min(picture.size)
large = picture.crop((0, 0, side, side)).resize((672, 672), Image.Resampling.LANCZOS)
small = large.resize((224, 224), Image.Resampling.BICUBIC)

# The model enlarges brightness; the eye accepts colours that are interpolated.
y, cb, cr = small.convert("YCbCr").split()
bright = tern.load(model)(np.asarray(y, np.float32)[None, None] / 255)["output"][0, 0]
bright = Image.fromarray(np.uint8(np.clip(bright * 255, 0, 255)))
sharp = Image.merge("YCbCr", (bright, cb.resize(bright.size), cr.resize(bright.size))).convert("RGB")
plain = small.resize(large.size, Image.Resampling.BICUBIC)


def error(image):
    """Returns the peak signal-to-noise ratio of the brightness in dB; more is better."""
    difference = np.asarray(image.convert("L"), np.float32) - np.asarray(large.convert("L"), np.float32)
    return 10 * np.log10(255**2 / np.mean(difference**2))


print(f"bicubic {error(plain):.1f} dB, model {error(sharp):.1f} dB")
part = (330, 0, 570, 240)
both = Image.new("RGB", (484, 240), "white")
both.paste(plain.crop(part), (0, 0))
both.paste(sharp.crop(part), (244, 0))
both.save(output)
