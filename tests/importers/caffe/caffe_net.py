"""Writes Caffe networks: the text of a .prototxt and the message of a .caffemodel."""

import pathlib
import struct

import numpy as np


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, contents):
    """A length-delimited field of a protobuf message."""
    if isinstance(contents, str):
        contents = contents.encode()
    return varint(number << 3 | 2) + varint(len(contents)) + contents


def number_field(number, value):
    return varint(number << 3) + varint(value)


def blob(array, form="shape"):
    """A BlobProto. `form` is shape, legacy (four dims), double, half (NVIDIA's raw_data) or unpacked."""
    dims = array.shape
    if form == "legacy":
        dims = (1,) * (4 - len(dims)) + tuple(dims)
        head = b"".join(number_field(i + 1, d) for i, d in enumerate(dims))
    else:
        head = field(7, field(1, b"".join(varint(d) for d in dims)))
    flat = np.ascontiguousarray(array)
    if form == "double":
        return head + field(8, flat.astype("<f8").tobytes())
    if form == "half":
        return head + number_field(10, 2) + field(12, flat.astype("<f2").tobytes())
    if form == "unpacked":
        return head + b"".join(varint(5 << 3 | 5) + struct.pack("<f", v) for v in flat.ravel())
    return field(5, flat.astype("<f4").tobytes()) + head


def caffemodel(blobs, name="net", form="shape", v1=False):
    """A NetParameter with the blobs of each layer. `blobs` maps layer names to (type, arrays)."""
    out = field(1, name)
    for layer, (kind, arrays) in blobs.items():
        if v1:
            message = field(4, layer) + b"".join(field(6, blob(a, form)) for a in arrays)
            out += field(2, message)
        else:
            message = field(1, layer) + field(2, kind) + b"".join(field(7, blob(a, form)) for a in arrays)
            out += field(100, message)
    return out


class Net:
    """A network that is built layer by layer. `shape` maps blobs to their dims, as far as the caller gives them."""

    def __init__(self, name="net", seed=0):
        self.lines = [f'name: "{name}"']
        self.blobs = {}
        self.shape = {}
        self.random = np.random.default_rng(seed)

    def input(self, name, dims):
        shape = " ".join(f"dim: {d}" for d in dims)
        self.lines.append(f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {shape} }} }} }}')
        self.shape[name] = tuple(dims)
        return name

    def layer(self, kind, bottoms, name, params="", blobs=(), tops=None):
        """Adds a layer. Returns the name of its first top, which is the name of the layer."""
        bottoms = [bottoms] if isinstance(bottoms, str) else bottoms
        tops = [name] if tops is None else tops
        wires = " ".join([f'bottom: "{b}"' for b in bottoms] + [f'top: "{t}"' for t in tops])
        self.lines.append(f'layer {{ name: "{name}" type: "{kind}" {wires} {params} }}')
        if len(blobs):
            self.blobs[name] = (kind, [np.asarray(b, np.float32) for b in blobs])
        return tops[0] if tops else None

    def weights(self, *dims, scale=None):
        """Random weights whose products keep the size of activations."""
        fan_in = int(np.prod(dims[1:])) or 1
        scale = np.sqrt(2.0 / fan_in) if scale is None else scale
        return (self.random.standard_normal(dims) * scale).astype(np.float32)

    def text(self):
        return "\n".join(self.lines) + "\n"

    def write(self, folder, stem="net", form="shape"):
        """Writes STEM.prototxt and STEM.caffemodel. Returns their paths."""
        text = pathlib.Path(folder, f"{stem}.prototxt")
        model = pathlib.Path(folder, f"{stem}.caffemodel")
        text.write_text(self.text())
        model.write_bytes(caffemodel(self.blobs, form=form))
        return text, model
