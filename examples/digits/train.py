"""Trains the digit classifier and writes digits.onnx beside this file.

    TERN_ZOO=... python train.py               trains on the 8,500 training images and writes digits.onnx
    TERN_ZOO=... python train.py --validate    trains on 7,000 of these images and prints the accuracy on the other 1,500

Choose settings with --validate, so that the held-out images measure only the finished model.
"""

import argparse
import pathlib
import time
from collections import OrderedDict

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

import augment
import dataset

SEED, EPOCHS, BATCH, PEAK_RATE = 1, 40, 64, 4e-3
SIZE_LIMIT = 300_000
OUTPUT = pathlib.Path(__file__).with_name("digits.onnx")


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def build():
    """Returns a network from pixels in 0..1 to logits. Its first BatchNorm normalises the input."""
    return nn.Sequential(
        *block(1, 16), *block(16, 16), nn.MaxPool2d(2),
        *block(16, 32), *block(32, 32), nn.MaxPool2d(2),
        *block(32, 64), *block(64, 48), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(48, 10))


def train(images, labels):
    """Trains for a fixed number of steps. At the end, the learning rate is close to zero.

    There is no early stopping, so that no images are needed to decide when to stop.
    """
    generator = torch.Generator().manual_seed(SEED)
    model = build().train()
    steps = len(images) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=EPOCHS * steps)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.02)
    for epoch in range(EPOCHS):
        start, total = time.time(), 0.0
        for rows in torch.randperm(len(images), generator=generator)[:steps * BATCH].split(BATCH):
            loss = loss_of(model(augment.augment(images[rows], generator)), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{EPOCHS}  loss {total / steps:.4f}  {time.time() - start:.1f} s", flush=True)
    return model.eval()


def fold(model):
    """Returns the model to export: each BatchNorm is folded into its Conv, Dropout is removed, Softmax is added."""
    layers = []
    for layer in model:
        if isinstance(layer, nn.BatchNorm2d):
            layers[-1] = fuse_conv_bn_eval(layers[-1], layer)
        elif not isinstance(layer, nn.Dropout):
            layers.append(layer)
    layers.append(nn.Softmax(dim=1))
    kinds = [type(layer).__name__.lower() for layer in layers]  # nodes and weights in the file are named conv2d_1, ...
    named = {f"{kind}_{kinds[:i].count(kind) + 1}": layer for i, (kind, layer) in enumerate(zip(kinds, layers))}
    return nn.Sequential(OrderedDict(named)).eval()


def export(model, path):
    """Writes a model that fold() returned."""
    torch.onnx.export(
        model, (torch.zeros(1, 1, 28, 28),), path, dynamo=False, opset_version=17,
        input_names=["image"], output_names=["probabilities"],
        dynamic_axes={"image": {0: "N"}, "probabilities": {0: "N"}})
    proto = onnx.load(path)
    proto.graph.name = "digits"
    proto.doc_string = "handwritten digits: image f32[N,1,28,28] in 0..1, light ink on dark, to probabilities f32[N,10]"
    for node in proto.graph.node:  # these two fields contain paths on the machine that exported the model
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    onnx.checker.check_model(proto, full_check=True)
    onnx.save(proto, path)
    size = path.stat().st_size
    if size > SIZE_LIMIT:
        raise SystemExit(f"'{path.name}' is {size} bytes, over the limit of {SIZE_LIMIT}")
    print(f"wrote {path.name}, {size} bytes")


@torch.no_grad()
def accuracy(model, images, labels):
    return (model(images).argmax(1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--validate", action="store_true", help="train on 7,000 images, print the accuracy on the other 1,500")
    validate = parser.parse_args().validate
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # more threads would change the order of sums
    torch.use_deterministic_algorithms(True)

    images, labels = dataset.load()
    rows = np.flatnonzero(~dataset.held_out_mask())
    images = torch.from_numpy(dataset.to_input(images[rows]))
    labels = torch.from_numpy(labels[rows].astype(np.int64))
    if not validate:
        return export(fold(train(images, labels)), OUTPUT)
    aside = torch.arange(len(images)) * 7919 % len(images) < 1_500
    model = train(images[~aside], labels[~aside])
    print(f"validation accuracy {accuracy(model, images[aside], labels[aside]):.2%}")


if __name__ == "__main__":
    main()
