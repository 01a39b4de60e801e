"""Finds faces and draws boxes around them. usage: faces.py MODEL PICTURE OUTPUT"""
import sys

import numpy as np
import tern
from PIL import Image, ImageDraw


def overlap(box, others):
    """Returns the intersection over union of a box with each of the others. A box is left, top, right, bottom."""
    inner = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    both = np.prod(np.maximum(inner, 0), axis=1)
    area = np.prod(others[:, 2:] - others[:, :2], axis=1)
    return both / (np.prod(box[2:] - box[:2]) + area - both)


def suppress(boxes, scores, limit=0.3):
    """Yields the boxes from the best score on, without those that overlap a better one."""
    order = np.argsort(-scores)
    while len(order):
        yield boxes[order[0]], scores[order[0]]
        order = order[1:][overlap(boxes[order[0]], boxes[order[1:]]) < limit]


model, picture, output = sys.argv[1:]
picture = Image.open(picture).convert("RGB")
picture.thumbnail((480, 480))
pixels = (np.asarray(picture.resize((320, 240)), np.float32) - 127) / 128
outputs = tern.load(model)(pixels.transpose(2, 0, 1)[None])
scores, boxes = outputs["scores"][0, :, 1], outputs["boxes"][0]
found = list(suppress(boxes[scores > 0.7], scores[scores > 0.7]))
draw = ImageDraw.Draw(picture)
for box, score in found:
    corners = box * (picture.size * 2)
    print(f"face {score:.2f} at {np.round(corners / 10).astype(int) * 10}")
    draw.rectangle(list(corners), outline="#00e676", width=3)
picture.save(output)
