"""Constants outside the flatbuffer, and constants of int4 with a scale per block."""

import pathlib

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from lite import interpreter, run_lite
from op_case import OpCase
from run_model import TernError, run_model
from writer import Graph, Operator, Tensor, Writer, options, single

ALIGNMENT = 16
X = np.random.default_rng(3).uniform(-2, 2, (3, 32)).astype(np.float32)


def layer(rng):
    """A product with weights and bias: the bytes of its model."""
    weights = Tensor([5, 32], data=rng.uniform(-1, 1, (5, 32)).astype(np.float32), name="w")
    bias = Tensor([5], data=rng.uniform(-1, 1, 5).astype(np.float32), name="b")
    x, y = Tensor([3, 32], name="x"), Tensor([3, 5], name="y")
    product = Operator("FULLY_CONNECTED", [x, weights, bias], [y], options("FullyConnectedOptions"))
    return Writer([Graph([product], [x], [y])]).bytes()


def pack(model):
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def moved_behind(content, gap=0):
    """The model with its buffers behind the flatbuffer, as in files of more than 2 GB, `gap` bytes behind its end."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    data = [None if b.data is None else bytes(bytearray(b.data)) for b in model.buffers]
    for b, d in zip(model.buffers, data):
        if d:
            # The sizes of the fields must not depend on their values: 0 is the default, which is not stored.
            b.data, b.offset, b.size = None, 2, len(d)
    places, at = [], len(pack(model)) + gap
    for b, d in zip(model.buffers, data):
        if d:
            at = -(-at // ALIGNMENT) * ALIGNMENT
            b.offset = at
            places.append((at, d))
            at += len(d)
    return pack(model), places


class Buffers(OpCase):
    def setUp(self):
        super().setUp()
        self.content = layer(np.random.default_rng(1))
        self.wanted = run_lite(interpreter(self.path(self.content)), [X])[0]

    def check_result(self, path):
        np.testing.assert_allclose(run_model(path, {"x": X})["y"], self.wanted, rtol=1e-4, atol=1e-5)

    def write(self, head, places):
        """Writes a sparse file: what lies between the places takes no space on the disk."""
        path = self.path(head)
        with path.open("r+b") as file:
            for at, data in places:
                file.seek(at)
                file.write(data)
        return path

    def test_buffers_behind_the_flatbuffer(self):
        path = self.write(*moved_behind(self.content))
        np.testing.assert_array_equal(run_lite(interpreter(path), [X])[0], self.wanted)
        self.check_result(path)

    def test_buffers_beyond_4_gib(self):
        # The offsets of these buffers do not fit into 32 bits.
        path = self.write(*moved_behind(self.content, 2**32 + 5))
        np.testing.assert_array_equal(run_lite(interpreter(path), [X])[0], self.wanted)
        self.check_result(path)

    def test_buffers_beyond_the_end_are_refused(self):
        head, places = moved_behind(self.content, 2**32)
        with self.assertRaisesRegex(TernError, f"640 bytes at {places[0][0]} are beyond the end of the file, which has {len(head)} bytes"):
            run_model(self.path(head), {"x": X})

    def external(self, name, **changes):
        """The model with its weights in the file `name`, 8 bytes behind its start."""
        model = schema.ModelT.InitFromPackedBuf(self.content, 0)
        weights = next(t for t in model.subgraphs[0].tensors if t.name == b"w")
        data = bytes(bytearray(model.buffers[weights.buffer].data))
        weights.buffer, weights.externalBuffer = 0, 1
        group = schema.ExternalBufferGroupT()
        group.name = name
        entry = schema.ExternalBufferT()
        entry.id, entry.group, entry.offset, entry.length = 1, 0, 8, len(data)
        for key, value in changes.items():
            setattr(entry, key, value)
        model.externalBufferGroups, model.externalBuffers = [group], [entry]
        return pack(model), b"12345678" + data

    def test_external_buffers(self):
        content, data = self.external("weights.bin")
        path = self.path(content)
        (pathlib.Path(self.folder.name) / "weights.bin").write_bytes(data)
        self.check_result(path)

    def test_broken_external_buffers_are_refused(self):
        data = self.external("weights.bin")[1]
        file = pathlib.Path(self.folder.name) / "weights.bin"
        file.write_bytes(data[:-1])
        for message, name, changes in (("needs 640 bytes at 8 of 'weights.bin', which has 647", "weights.bin", {}),
                                       ("must be a path inside the model's folder", "../weights.bin", {}),
                                       ("must be a path inside the model's folder", str(file), {}),
                                       ("cannot open the external file 'missing.bin'", "missing.bin", {}),
                                       ("external buffer 1 does not exist", "weights.bin", {"id": 2}),
                                       ("the group 3 of its external buffer does not exist", "weights.bin", {"group": 3}),
                                       ("needs 639 bytes|needs 640 bytes, but its buffer has 639", "weights.bin", {"length": 639}),
                                       ("has the packing 'zip'", "weights.bin", {"packing": "zip"})):
            with self.subTest(message=message, name=name), self.assertRaisesRegex(TernError, message):
                run_model(self.path(self.external(name, **changes)[0]), {"x": X})


class Blocks(OpCase):
    def test_int4_with_scales_per_block(self):
        """Compared with the definition: float(x) = x[i] * scale[i / block]."""
        rng = np.random.default_rng(5)
        for block in (32, 64):
            numbers = rng.integers(-7, 8, (6, 128)).astype(np.int8)
            scales = rng.uniform(0.01, 0.2, (6, 128 // block)).astype(np.float16)
            nibbles = (numbers.ravel() & 15).astype(np.uint8)
            scale = Tensor(scales.shape, "float16", scales, name="s")
            weights = Tensor([6, 128], "int4", (nibbles[0::2] | nibbles[1::2] << 4).tobytes(), name="w", blocks=(block, scale))
            x = Tensor([4, 128], name="x")
            path = self.path(single(Operator("FULLY_CONNECTED", [x, weights], [Tensor([4, 6], name="y")], options("FullyConnectedOptions"))))
            array = rng.uniform(-2, 2, (4, 128)).astype(np.float32)
            wanted = array @ (numbers * np.repeat(scales.astype(np.float32), block, 1)).T
            with self.subTest(block=block):
                np.testing.assert_allclose(run_model(path, {"x": array})["y"], wanted, rtol=1e-3, atol=1e-3)
