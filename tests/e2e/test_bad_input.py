"""Tests invalid models and inputs. `tern` must print a message of one paragraph, exit with code 2, and write no
files."""

import os
import resource
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper

from support import FLOAT, CliTest, add, make_model, mlp, run


class BadInputs(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.save(add())
        self.good = self.npy("good.npy", np.ones((1, 2), np.float32))
        self.before = self.files()

    def refuse(self, *args, says=()):
        self.refused("run", self.model, "--output-dir", self.dir / "out", *args, says=says)
        self.assertEqual([f for f in self.files() if f.startswith("out")], [])

    def test_wrong_name(self):
        self.refuse("--input", f"c={self.good}", says=["'c'", "a, b"])

    def test_missing_input(self):
        self.refuse("--input", f"a={self.good}", says="'b'")

    def test_wrong_dtype(self):
        self.refuse("--input", f"a={self.good}", "--input", f"b={self.npy('b.npy', np.ones((1, 2)))}", says=["'b'", "f64", "f32"])

    def test_wrong_rank_and_dim(self):
        self.refuse("--input", f"a={self.good}", "--input", f"b={self.npy('b.npy', np.ones(2, np.float32))}", says=["'b'", "f32[2]"])
        self.refuse("--input", f"a={self.good}", "--input", f"b={self.npy('b.npy', np.ones((1, 3), np.float32))}", says=["'b'", "3"])

    def test_one_symbol_two_sizes(self):
        """Two inputs have the symbol N with different sizes. As in onnxruntime, this is an error only if a node needs
        equal sizes. Add accepts the sizes 1 and 2, because 1 broadcasts."""
        two, three = (self.npy(f"{n}.npy", np.ones((n, 2), np.float32)) for n in (2, 3))
        self.refuse("--input", f"a={two}", "--input", f"b={three}", says=["'b'", "is 3", "has 2"])
        self.ok("run", self.model, "--input", f"a={self.good}", "--input", f"b={two}")

    def test_missing_and_unknown_files(self):
        self.refuse("--input", "a=/no/such/file.npy", says="/no/such/file.npy")
        self.refuse("--input", f"a={self.model}", says=".npy")
        self.refuse("--input", f"a={self.dir}", says=str(self.dir))

    def test_hostile_npy(self):
        data = self.good.read_bytes()
        cases = {"short.npy": data[:-1], "empty.npy": b"", "magic.npy": b"X" + data[1:],
                 "huge.npy": data.replace(b"(1, 2)", b"(99999999999, 99999999999)"),
                 "2gb.npy": data.replace(b"(1, 2), }", b"(600000000,), }")}
        for name, content in cases.items():
            with self.subTest(name):
                (self.dir / name).write_bytes(content)
                self.refuse("--input", f"a={self.dir / name}", "--input", f"b={self.good}", says=name)

    def test_pickled_arrays_are_not_opened(self):
        np.save(self.dir / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
        self.refuse("--input", f"a={self.dir / 'o.npy'}", says="o.npy")

    def test_damaged_npz_json_png(self):
        np.savez(self.dir / "x.npz", a=np.ones((1, 2), np.float32))
        data = (self.dir / "x.npz").read_bytes()
        (self.dir / "x.npz").write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
        self.refuse("--input", f"a={self.dir / 'x.npz'}", says="x.npz")
        for name, content in {"x.json": "[[1, 2], [3]]", "y.json": "{", "x.txt": "1 two", "x.png": "no picture"}.items():
            (self.dir / name).write_text(content)
            self.refuse("--input", f"a={self.dir / name}", says=name)

    def test_bad_shapes_and_dims(self):
        for args in (["--shape", "a=1xx2"], ["--shape", "a=-1x2"], ["--shape", "q=1x2"], ["--shape", "a=3"], ["--shape", "a=1x3"],
                     ["--dim", "Q=1"], ["--dim", "N"], ["--dim", "N=x"], ["--shape", "a=99999999999x99999999999"],
                     ["--shape", "a=1x2", "--shape", "b=2x2"]):
            with self.subTest(args):
                self.refuse("--random", 1, *args, says=args[1].split("=")[0])

    def test_sizes_beyond_memory(self):
        self.refuse("--random", 1, "--dim", "N=100000000000", says="'a'")


class BadModels(CliTest):
    def refuse(self, path, says=()):
        out = self.dir / "out.tern"
        for args in (["run", path, "--random", 1], ["inspect", path], ["bench", path, "--runs", 1], ["convert", path, "-o", out],
                     ["verify", path, "--reference"]):
            self.refused(*args, says=[str(path), *([says] if isinstance(says, str) else says)])
        self.assertFalse(out.exists())

    def test_missing_empty_and_foreign_files(self):
        self.refuse(self.dir / "none.onnx")
        for name, content in {"empty.onnx": b"", "text.onnx": b"hello, world", "zeros.onnx": bytes(100)}.items():
            (self.dir / name).write_bytes(content)
            self.refuse(self.dir / name)

    def test_a_folder_is_no_model(self):
        self.refuse(self.dir)
        (self.dir / "saved_model.pb").write_bytes(b"\x08\x01")
        self.refuse(self.dir, says="the SavedModel has no graph")

    def test_models_of_other_frameworks_are_told_by_name(self):
        with zipfile.ZipFile(self.dir / "model.pt", "w") as archive:
            archive.writestr("model/data.pkl", b"\x80\x02}.")
            archive.writestr("model/data/0", bytes(1000))
        header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        files = {"model.gguf": b"GGUF\3\0\0\0", "model.h5": b"\x89HDF\r\n\x1a\n\0\0",
                 "model.safetensors": len(header).to_bytes(8, "little") + header + bytes(4)}
        for name, content in files.items():
            (self.dir / name).write_bytes(content)
        for name, words in {"model.pt": ("a PyTorch checkpoint", "torch.onnx.export"), "model.gguf": ("a GGUF file", "torch.onnx.export"),
                            "model.h5": ("HDF5", "model.export"), "model.safetensors": ("a safetensors file", "torch.onnx.export")}.items():
            self.refuse(self.dir / name, says=("the file is", *words, "Tern reads", "ONNX (.onnx)", "Tern (.tern)", "TorchScript (.pt)", "torch.export (.pt2)"))

    def test_weights_beyond_protobufs_limit_are_told_by_name(self):
        path = self.dir / "large.gguf"
        path.write_bytes(b"GGUF\3\0\0\0")
        os.truncate(path, 3 << 30)
        self.refused("inspect", path, says=["large.gguf", "a GGUF file"], timeout=20)

    def test_every_truncation_is_refused_or_whole(self):
        path = self.save(mlp()[0])
        data = path.read_bytes()
        for n in range(0, len(data) - 1, 23):
            path.write_bytes(data[:n])
            done = run("inspect", path)
            self.assertIn(done.returncode, (0, 2), f"{n}: {done.stderr}")
            self.assertNotIn("internal error", done.stderr)

    def test_flipped_bits_never_crash(self):
        path = self.save(mlp()[0])
        data = path.read_bytes()
        rng = np.random.default_rng(0)
        for i in rng.integers(0, len(data), 60):
            path.write_bytes(data[:i] + bytes([data[i] ^ (1 << rng.integers(8))]) + data[i + 1:])
            done = run("run", path, "--random", 1)
            self.assertIn(done.returncode, (0, 2), f"byte {i}: {done.stderr}")
            self.assertNotIn("internal error", done.stderr)

    def test_truncated_and_flipped_tern_files(self):
        source, path = self.save(mlp()[0]), self.dir / "m.tern"
        self.ok("convert", source, "-o", path)
        data = path.read_bytes()
        bad = self.dir / "bad.tern"
        for n in range(8, len(data) - 64, 97):  # a file without its last 64 bytes may be valid, if they are padding
            bad.write_bytes(data[:n])
            self.refused("run", bad, "--random", 1, says="bad.tern")
        for i in range(8, len(data), 61):
            bad.write_bytes(data[:i] + bytes([data[i] ^ 0x10]) + data[i + 1:])
            self.assertIn(run("run", bad, "--random", 1).returncode, (0, 2), f"byte {i}")

    def test_a_message_beyond_protobufs_limit(self):
        path = self.dir / "large.onnx"
        path.touch()
        os.truncate(path, 3 << 30)  # a sparse file, which occupies no blocks on the disk

        def little_memory():
            resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))

        self.refused("inspect", path, says=["large.onnx", str(3 << 30), str((1 << 31) - 1), "external data"],
                     preexec_fn=little_memory, timeout=20)

    def test_initializers_of_one_name(self):
        model = mlp()[0]
        other = model.graph.initializer.add()
        other.CopyFrom(model.graph.initializer[0])
        self.ok("run", self.save(model), "--random", 1)
        other.raw_data = bytes(len(other.raw_data))
        self.refuse(self.save(model), says=["initializer #0", "initializer #2", "'w'"])

    def test_cycle(self):
        nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="first"), helper.make_node("Relu", ["a"], ["b"], name="second")]
        self.refuse(self.save(make_model(nodes, {"x": (FLOAT, [1])}, {"b": (FLOAT, [1])})), says="cycle")
        # Node #0 only reads a node of the cycle.
        nodes = [helper.make_node("Relu", ["b"], ["y"], name="reader"), *nodes]
        self.refuse(self.save(make_model(nodes, {"x": (FLOAT, [1])}, {"y": (FLOAT, [1])})), says="cycle through node 'second'")

    def test_unknown_operators_are_all_named(self):
        nodes = [helper.make_node("Foo", ["x"], ["h"], name="n1"), helper.make_node("Bar", ["h"], ["y"], name="n2")]
        self.refuse(self.save(make_model(nodes, {"x": (FLOAT, [1])}, {"y": (FLOAT, [1])})), says=["Foo", "Bar", "n1", "n2"])

    def test_contradicting_shapes_name_node_and_dims(self):
        model, w, _ = mlp()
        model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(w[:2], "w"))
        self.refuse(self.save(model), says=["mul", "MatMul", "4", "2"])

    def test_wrong_types(self):
        node = helper.make_node("Relu", ["x"], ["y"], name="r")
        self.refuse(self.save(make_model([node], {"x": (TensorProto.STRING, [1])}, {"y": (TensorProto.STRING, [1])})), says="'r'")

    def test_types_beyond_32_bits(self):
        for number in (-4294967295, 4294967297):  # both are 1, FLOAT, in 32 bits
            model = make_model([helper.make_node("Cast", ["x"], ["y"], to=number)], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])})
            self.refused("inspect", self.save(model), says="'to'")

    def test_unmade_values(self):
        node = helper.make_node("Relu", ["nowhere"], ["y"], name="r")
        self.refuse(self.save(make_model([node], {"x": (FLOAT, [1])}, {"y": (FLOAT, [1])})), says="nowhere")

    def test_a_claim_of_gigabytes(self):
        model = mlp()[0]
        model.graph.initializer[0].dims[:] = [1 << 20, 1 << 12]
        self.refuse(self.save(model), says="w")

    def external(self, location, offset=None, length=None):
        model = mlp()[0]
        weight = model.graph.initializer[0]
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, "offset": offset, "length": length}.items():
            if value is not None:
                weight.external_data.add(key=key, value=str(value))
        path = self.dir / "inner" / "model.onnx"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(model.SerializeToString())
        return path

    def test_external_data_stays_in_the_models_folder(self):
        (self.dir / "secret.bin").write_bytes(bytes(48))
        self.refuse(self.external("../secret.bin"), says="secret.bin")
        self.refuse(self.external(str(self.dir / "secret.bin")), says="secret.bin")
        path = self.external("link.bin")
        os.symlink(self.dir / "secret.bin", path.parent / "link.bin")
        self.refuse(path, says="link.bin")

    def test_external_data_must_be_there_and_long_enough(self):
        self.refuse(self.external("none.bin"), says="none.bin")
        path = self.external("short.bin", offset=0, length=48)
        (path.parent / "short.bin").write_bytes(bytes(47))
        self.refuse(path, says="short.bin")
        self.refuse(self.external("short.bin", offset=1 << 62), says="short.bin")
        self.refuse(self.external("short.bin", offset=-1), says="short.bin")

    def test_good_external_data_is_read(self):
        path = self.external("w.bin")
        (path.parent / "w.bin").write_bytes(mlp()[1].tobytes())
        self.ok("run", path, "--random", 1)
