"""Tests tern run with inputs and outputs of every kind."""

import json
import struct
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import FLOAT, INT64, CliTest, add, make_model, mlp, picture_model


def png(pixels):
    """Returns a PNG file of an array [height, width, 3]."""
    height, width, _ = pixels.shape
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in pixels.astype(np.uint8))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Run(CliTest):
    def test_npy_in_npy_out(self):
        model, w, b = mlp()
        x = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)
        self.ok("run", self.save(model), "--input", f"x={self.npy('x.npy', x)}", "--output-dir", self.dir / "out")
        np.testing.assert_allclose(np.load(self.dir / "out/y.npy"), np.maximum(x @ w + b, 0), rtol=1e-5)

    def test_activation_of_a_fused_matmul_has_its_parameters(self):
        """No other CPU engine implements this operator, so that no other test compares its results."""
        x = np.array([[-2, 1], [3, -4]], np.float32)
        expected = {"LeakyRelu": (dict(activation_alpha=0.5), lambda v: np.where(v > 0, v, 0.5 * v)),
                    "HardSigmoid": (dict(activation_beta=0.25), lambda v: np.clip(0.2 * v + 0.25, 0, 1)),
                    "Softmax": (dict(activation_axis=0), lambda v: np.exp(v) / np.exp(v).sum(0))}
        for name, (attributes, function) in expected.items():
            node = helper.make_node("FusedMatMulActivation", ["x", "x"], ["y"], domain="com.microsoft", activation=name, **attributes)
            model = make_model([node], {"x": (FLOAT, [2, 2])}, {"y": (FLOAT, [2, 2])})
            model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
            self.ok("run", self.save(model), "--input", f"x={self.npy('x.npy', x)}", "--output-dir", self.dir / "out")
            np.testing.assert_allclose(np.load(self.dir / "out/y.npy"), function(x @ x), rtol=1e-5, err_msg=name)

    def test_newest_onnx(self):
        """The newest opset and IR version that Tern reads may be newer than those of the installed package onnx."""
        x, y = np.random.default_rng(4).standard_normal((2, 3, 5)).astype(np.float32)
        node = helper.make_node("SwiGLU", ["x", "y"], ["z"], alpha=1.5)
        model = make_model([node], {"x": (FLOAT, [3, 5]), "y": (FLOAT, [3, 5])}, {"z": (FLOAT, [3, 5])})
        model.opset_import[0].version, model.ir_version = 28, 14
        self.ok("run", self.save(model), "--input", f"x={self.npy('x.npy', x)}", "--input", f"y={self.npy('y.npy', y)}", "--output-dir",
                self.dir / "out")
        np.testing.assert_allclose(np.load(self.dir / "out/z.npy"), x / (1 + np.exp(-1.5 * x)) * y, rtol=1e-5)
        node = helper.make_node("SpaceToDepth", ["x"], ["z"], blocksize=2, mode="CRD")
        model = make_model([node], {"x": (FLOAT, [1, 1, 2, 2])}, {"z": (FLOAT, [1, 4, 1, 1])})
        model.opset_import[0].version, model.ir_version = 28, 14
        self.refused("inspect", self.save(model), says=["mode must be DCR, got 'CRD'"])

    def test_activations_of_a_quantized_lstm(self):
        rng = np.random.default_rng(2)
        weights = {"w": rng.integers(0, 256, (2, 3, 16), np.uint8), "r": rng.integers(0, 256, (2, 4, 16), np.uint8),
                   "s": np.full(2, 0.01, np.float32), "z": np.full(2, 128, np.uint8)}

        def result(**attributes):
            node = helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"], ["y"],
                                    domain="com.microsoft", direction="bidirectional", hidden_size=4, **attributes)
            model = make_model([node], {"x": (FLOAT, [5, 1, 3])}, {"y": (FLOAT, [5, 2, 1, 4])}, weights)
            model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
            return np.array(self.json("run", self.save(model), "--random", 3, "--json")["outputs"]["y"]["data"])

        defaults = result()
        np.testing.assert_allclose(result(activations=["Sigmoid", "Tanh", "Tanh"] * 2), defaults, atol=1e-6)
        self.assertGreater(np.abs(result(activations=["HardSigmoid", "Tanh", "Tanh"] * 2) - defaults).max(), 1e-4)

    def test_one_flag_with_many_inputs(self):
        path = self.save(add())
        a, b = self.npy("a.npy", np.ones((1, 2), np.float32)), self.npy("b.npy", np.full((1, 2), 2, np.float32))
        done = self.json("run", path, "--input", f"a={a}", f"b={b}", "--json")
        self.assertEqual(done["outputs"]["y"]["data"], [[3, 3]])
        done = self.json("run", "--input", f"a={a}", "--input", f"b={b}", path, "--json")
        self.assertEqual(done["outputs"]["y"]["data"], [[3, 3]])

    def test_random_is_reproducible_and_saved(self):
        path = self.save(mlp()[0])
        for folder in ("1", "2"):
            self.ok("run", path, "--random", 7, "--dim", "N=3", "--save-inputs", self.dir / folder, "--output-dir", self.dir / folder)
        x = np.load(self.dir / "1/x.npy")
        self.assertEqual(x.shape, (3, 4))
        self.assertTrue((np.abs(x) <= 1).all() and np.unique(x).size > 6)
        for name in ("x.npy", "y.npy"):
            self.assertEqual((self.dir / "1" / name).read_bytes(), (self.dir / "2" / name).read_bytes())
        again = self.json("run", path, "--input", f"x={self.dir / '1/x.npy'}", "--json")["outputs"]["y"]["data"]
        np.testing.assert_array_equal(np.array(again, np.float32), np.load(self.dir / "1/y.npy"))

    def test_shape_sets_all_inputs_with_the_symbol(self):
        done = self.json("run", self.save(add()), "--random", 1, "--shape", "a=6x2", "--json")
        self.assertEqual(done["outputs"]["y"]["shape"], [6, 2])

    def test_one_name_for_sizes_that_differ(self):
        """The model uses the symbol H for the height of x and for the height of w. With the fed heights 5 and 2, the
        convolution has 4 rows, as `four` has. If both heights were H, it would have 1 row, and Concat would fail."""
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Concat", ["c", "four"], ["y"], axis=3)]
        path = self.save(make_model(nodes, {"x": (FLOAT, [1, 1, "H", 4]), "w": (FLOAT, [1, 1, "H", 1])}, {"y": (FLOAT, None)},
                                    {"four": np.zeros((1, 1, 4, 1), np.float32)}))
        x, w = (self.npy(f"{n}.npy", np.ones(d, np.float32)) for n, d in (("x", (1, 1, 5, 4)), ("w", (1, 1, 2, 1))))
        done = self.json("run", path, "--input", f"x={x}", f"w={w}", "--json")
        self.assertEqual(done["outputs"]["y"]["data"], [[[[2, 2, 2, 2, 0]] * 4]])

    def test_dims_with_odd_names(self):
        """The texts "batch-size" and "a b" are names of symbols, although they are no identifiers. Both inputs must
        have the same size for a symbol. .tern and .onnx files store the names."""
        model = make_model([helper.make_node("Add", ["a", "b"], ["y"])], {n: (FLOAT, ["batch-size", "a b"]) for n in "ab"},
                           {"y": (FLOAT, ["batch-size", "a b"])})
        path = self.save(model)
        for name in ("m.tern", "again.onnx"):
            self.ok("convert", path, "-o", self.dir / name)
        self.assertEqual([d.dim_param for d in onnx.load(self.dir / "again.onnx").graph.output[0].type.tensor_type.shape.dim],
                         ["batch-size", "a b"])
        two, three = (self.npy(f"{n}.npy", np.ones((n, 2), np.float32)) for n in (2, 3))
        for file in (path, self.dir / "m.tern", self.dir / "again.onnx"):
            done = self.json("run", file, "--random", 1, "--dim", "batch-size=5", "--dim", "a b=3", "--json")
            self.assertEqual(done["outputs"]["y"]["shape"], [5, 3])
            self.refused("run", file, "--input", f"a={two}", "--input", f"b={three}", says=["batch-size", "is 3", "has 2"])

    def test_open_dims_become_one_and_that_is_said(self):
        done = self.ok("run", self.save(mlp()[0]), "--random", 1)
        self.assertIn("N", done.stderr)
        self.assertIn("f32[1,3]", done.stdout)

    def test_output_names_become_file_names(self):
        self.ok("run", self.save(add(name_y="scope/y:0")), "--random", 1, "--output-dir", self.dir / "o")
        self.assertTrue((self.dir / "o/scope_y_0.npy").exists())
        self.ok("run", self.save(add(name_y="../../y")), "--random", 1, "--output-dir", self.dir / "p")
        self.assertEqual([p.name for p in (self.dir / "p").iterdir()], [".._.._y.npy"])

    def test_npz_feeds_by_name(self):
        np.savez(self.dir / "in.npz", a=np.ones((2, 2), np.float32), b=np.ones((2, 2), np.float32))
        np.savez_compressed(self.dir / "deflated.npz", a=np.ones((2, 2), np.float32), b=np.ones((2, 2), np.float32))
        for name in ("in.npz", "deflated.npz"):
            done = self.json("run", self.save(add()), "--input", self.dir / name, "--json")
            self.assertEqual(done["outputs"]["y"]["data"], [[2, 2], [2, 2]])

    def test_json_text_and_protobuf_inputs(self):
        path = self.save(add())
        (self.dir / "both.json").write_text('{"a": [[1, 2]], "b": {"shape": [1, 2], "data": [3, 4]}}')
        self.assertEqual(self.json("run", path, "--input", self.dir / "both.json", "--json")["outputs"]["y"]["data"], [[4, 6]])
        (self.dir / "a.txt").write_text("1 2\n3 4 # two rows\n")
        (self.dir / "b.pb").write_bytes(numpy_helper.from_array(np.ones((2, 2), np.float32)).SerializeToString())
        done = self.json("run", path, "--input", f"a={self.dir / 'a.txt'}", "--input", f"b={self.dir / 'b.pb'}", "--json")
        self.assertEqual(done["outputs"]["y"]["data"], [[2, 3], [4, 5]])

    def test_fortran_order_and_big_endian(self):
        a = np.asfortranarray(np.arange(6, dtype=">f4").reshape(3, 2))
        done = self.json("run", self.save(add()), "--input", f"a={self.npy('a.npy', a)}", "--input",
                         f"b={self.npy('b.npy', np.zeros((3, 2), np.float32))}", "--json")
        self.assertEqual(done["outputs"]["y"]["data"], [[0, 1], [2, 3], [4, 5]])

    def test_pictures(self):
        pixels = np.zeros((16, 16, 3))
        pixels[..., 0], pixels[..., 1] = 255, 51
        (self.dir / "p.png").write_bytes(png(pixels))
        path = self.save(picture_model())
        done = self.json("run", path, "--input", self.dir / "p.png", "--json")
        np.testing.assert_allclose(np.ravel(done["outputs"]["y"]["data"]), [1, 0.2, 0], atol=1e-6)
        done = self.json("run", path, "--input", f"image={self.dir / 'p.png'}", "--resize", "12", "--crop", "8x8", "--mean", "0.5,0.2,0",
                         "--std", "0.5", "--channels", "bgr", "--json")
        np.testing.assert_allclose(np.ravel(done["outputs"]["y"]["data"]), [-1, 0, 2], atol=1e-6)

    def test_pictures_of_other_formats(self):
        head = struct.pack("<2sIIIIiiHHIIIIII", b"BM", 0, 0, 54, 40, 16, 16, 1, 24, 0, 0, 0, 0, 0, 0)
        (self.dir / "p.bmp").write_bytes(head + bytes([0, 51, 255]) * 256)
        path = self.save(picture_model())
        with open(self.dir / "p.bmp", "rb") as piped:
            for source, options in ((self.dir / "p.bmp", {}), ("-", {"stdin": piped})):
                done = self.json("run", path, "--input", source, "--filter", "lanczos", "--json", **options)
                np.testing.assert_allclose(np.ravel(done["outputs"]["y"]["data"]), [1, 0.2, 0], atol=1e-6)
        (self.dir / "p.gif").write_bytes(b"GIF89a\x08\x00\x08")
        self.refused("run", path, "--input", self.dir / "p.gif", says=["p.gif", "broken GIF"])
        self.refused("run", path, "--input", self.dir / "p.bmp", "--filter", "cubic", says="--filter")

    def test_topk_with_labels(self):
        (self.dir / "labels.txt").write_text("cat\ndog\nbird\n")
        (self.dir / "x.json").write_text("[[0.1, 3, 1]]")
        model = make_model([helper.make_node("Identity", ["x"], ["y"])], {"x": (FLOAT, [1, 3])}, {"y": (FLOAT, [1, 3])})
        done = self.ok("run", self.save(model), "--input", self.dir / "x.json", "--topk", 2, "--labels", self.dir / "labels.txt")
        lines = [line.split() for line in done.stdout.splitlines()[1:3]]
        self.assertEqual([(line[0], line[2]) for line in lines], [("1", "dog"), ("2", "bird")])
        (self.dir / "names.json").write_text('{"1": ["n2", "hound"], "0": ["n1", "cat"], "2": ["n3", "bird"]}')
        done = self.ok("run", self.save(model), "--input", self.dir / "x.json", "--labels", self.dir / "names.json")
        self.assertIn("hound", done.stdout)
        done = self.json("run", self.save(model), "--input", self.dir / "x.json", "--topk", 1, "--json")
        self.assertEqual(done["topk"]["y"][0][0]["index"], 1)

    def test_no_classes_are_not_a_number_of_classes(self):
        self.refused("run", self.save(add()), "--random", "1", "--topk", 0, says=["--topk", "0"])

    def test_other_output_formats(self):
        path = self.save(add())
        for kind in ("npz", "json", "txt", "pb"):
            self.ok("run", path, "--random", 1, "--output-dir", self.dir, "--format", kind)
        want = np.load(self.dir / "y.npz")["arr_0"]
        np.testing.assert_array_equal(np.array(json.loads((self.dir / "y.json").read_text())["data"], np.float32), want)
        np.testing.assert_array_equal(np.loadtxt(self.dir / "y.txt", dtype=np.float32, ndmin=2), want)
        tensor = onnx.load_tensor(self.dir / "y.pb")
        np.testing.assert_array_equal(numpy_helper.to_array(tensor), want)

    def test_types_numpy_lacks_are_stored_by_their_bits(self):
        node = helper.make_node("Identity", ["x"], ["y"])
        model = make_model([node], {"x": (TensorProto.BFLOAT16, [3])}, {"y": (TensorProto.BFLOAT16, [3])})
        bits = np.array([0x3f80, 0x4000, 0xbf80], np.uint16)
        self.ok("run", self.save(model), "--input", f"x={self.npy('x.npy', bits)}", "--output-dir", self.dir / "o")
        np.testing.assert_array_equal(np.load(self.dir / "o/y.npy"), bits)

    def test_strings(self):
        node = helper.make_node("Identity", ["x"], ["y"])
        model = make_model([node], {"x": (TensorProto.STRING, [2])}, {"y": (TensorProto.STRING, [2])})
        words = np.array(["grüße", ""])
        self.ok("run", self.save(model), "--input", f"x={self.npy('x.npy', words)}", "--output-dir", self.dir / "o")
        np.testing.assert_array_equal(np.load(self.dir / "o/y.npy"), words)

    def test_an_initializer_that_is_an_input_may_be_fed(self):
        node = helper.make_node("Add", ["x", "w"], ["y"])
        model = make_model([node], {"x": (INT64, [1]), "w": (INT64, [1])}, {"y": (INT64, [1])}, {"w": np.array([10])})
        path, x, w = self.save(model), self.npy("x.npy", np.array([1])), self.npy("w.npy", np.array([5]))
        self.assertEqual(self.json("run", path, "--input", f"x={x}", "--json")["outputs"]["y"]["data"], [11])
        self.assertEqual(self.json("run", path, "--input", f"x={x}", "--input", f"w={w}", "--json")["outputs"]["y"]["data"], [6])

    def test_empty_tensors(self):
        done = self.json("run", self.save(mlp()[0]), "--random", 1, "--dim", "N=0", "--json")
        self.assertEqual(done["outputs"]["y"]["shape"], [0, 3])

    def test_threads_do_not_change_results(self):
        path = self.save(mlp()[0])
        one, two = (self.json("run", path, "--random", 1, "--threads", n, "--json")["outputs"] for n in (1, 2))
        self.assertEqual(one, two)
