"""Paints a picture in the style of "The Starry Night". usage: style.py MODEL PICTURE OUTPUT"""
import sys

import numpy as np
import onnx
import tern
from PIL import Image


def repaired(path):
    """The file says opset 7, but follows opset 6: biases are added along axis 1, and Upsample has no scales for batch and channels."""
    model = onnx.load(path)
    weights = {weight.name: weight for weight in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Add" and node.input[1] in weights:
            weights[node.input[1]].dims.extend([1, 1])
        if node.op_type == "Upsample":
            node.attribute[0].floats[:] = [1, 1, *node.attribute[0].floats]
    return model.SerializeToString()


model, picture, output = sys.argv[1:]
picture = Image.open(picture).convert("RGB")
side = min(picture.size)
left, top = (picture.width - side) // 2, (picture.height - side) // 2
picture = picture.crop((left, top, left + side, top + side)).resize((224, 224), Image.Resampling.LANCZOS)

predictor = tern.load(repaired(model))
print(predictor)
blue_first = np.asarray(picture, np.float16)[:, :, ::-1]  # the order of the channels that the model was trained with
painted = predictor(blue_first.transpose(2, 0, 1)[None])[0][0]
painted = Image.fromarray(np.uint8(np.clip(painted[::-1], 0, 255).transpose(1, 2, 0)))
both = Image.new("RGB", (452, 224), "white")
both.paste(picture, (0, 0))
both.paste(painted, (228, 0))
both.save(output)
