"""Names what a picture shows. usage: classify.py MODEL PICTURE LABELS OUTPUT"""
import sys

import numpy as np
import tern
from PIL import Image, ImageDraw


def prepare(picture):
    """Resizes the shorter side to 256, cuts out the centre, and normalises as ImageNet's models expect."""
    scale = 256 / min(picture.size)
    picture = picture.resize([round(side * scale) for side in picture.size], Image.Resampling.BILINEAR)
    left, top = (picture.width - 224) // 2, (picture.height - 224) // 2
    pixels = np.asarray(picture.crop((left, top, left + 224, top + 224)), np.float32) / 255
    return ((pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).astype(np.float32).transpose(2, 0, 1)[None]


model, picture, labels, output = sys.argv[1:]
picture = Image.open(picture).convert("RGB")
names = open(labels).read().splitlines()[-1000:]  # some files begin with a class "background"
logits = tern.load(model)(prepare(picture))[0][0]
probabilities = np.exp(logits - logits.max())
probabilities /= probabilities.sum()

picture.thumbnail((480, 480))
draw = ImageDraw.Draw(picture, "RGBA")
for row, i in enumerate(np.argsort(-probabilities)[:3]):
    print(f"{probabilities[i]:6.1%}  {names[i]}")
    draw.rectangle((0, 26 * row, picture.width * probabilities[i], 26 * row + 24), (0, 150, 136, 160))
    draw.text((8, 26 * row + 4), f"{probabilities[i]:.1%} {names[i]}", "white", font_size=16)
picture.save(output)
