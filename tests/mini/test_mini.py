"""Builds mini libraries and compares them with the full library.

A build takes minutes, so `tern test` runs this suite only by name. The builds stay in build/mini_*. With TERN_ZOO, also
builds one for MobileNet v2."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("TERN_ROOT", pathlib.Path(__file__).resolve().parents[2]))
TERN = pathlib.Path(os.environ.get("TERN_BIN", ROOT / "build/release/bin/tern"))
DIGITS = ROOT / "examples/digits/digits.onnx"
ISA = "avx2"
KINDS = ("shared", "static")
LIMIT = 1_500_000  # bytes of a stripped mini libtern.so


def call(*command, **kwargs):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **kwargs)


def must(*command, **kwargs):
    done = call(*command, **kwargs)
    if done.returncode != 0:
        raise RuntimeError(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build(name, *models):
    """Builds the mini libraries for these models. Returns the build folder."""
    folder = ROOT / "build" / f"mini_{name}"
    must("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2",
         f"-DTERN_ISA={ISA}", f"-DTERN_HOST_TOOL={TERN}", "-DTERN_OPS_FROM=" + ";".join(map(str, models)))
    must("ninja", "-C", folder, "libtern", "libtern_static")
    return folder


def runner(folder, name, *link):
    """Compiles tests/mini/runner.cc. Returns the program."""
    program = folder / name
    must("c++", "-std=c++17", "-O1", f"-I{ROOT / 'include'}", ROOT / "tests/mini/runner.cc", "-o", program, *link)
    return program


def shared(folder):
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-ltern"]


class Mini(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="tern_mini_")
        cls.addClassCleanup(holder.cleanup)
        cls.dir = pathlib.Path(holder.name)
        cls.full = runner(cls.dir, "full", *shared(TERN.parents[1] / "lib"))
        cls.digits = build("digits", DIGITS)
        cls.shared = runner(cls.dir, "shared", *shared(cls.digits / "lib"))
        cls.static = runner(cls.dir, "static", cls.digits / "lib/libtern.a", "-Wl,--gc-sections", "-pthread")

    def run_model(self, program, model, size):
        """Returns the bytes of the outputs."""
        out = self.dir / "out"
        done = call(program, model, out, size, env=dict(os.environ, TERN_ISA=ISA))
        self.assertEqual(done.returncode, 0, done.stderr)
        return out.read_bytes()

    def refused(self, program, model, *says, env=None):
        done = call(program, model, self.dir / "out", 1, env=dict(os.environ, **(env or {})))
        self.assertEqual(done.returncode, 1, done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)

    def same_results(self, programs, model, folder, sizes):
        written = folder / "mini/models" / (model.stem + ".tern")
        for size in sizes:
            want = self.run_model(self.full, model, size)
            self.assertGreater(len(want), 0)
            for program in programs:
                with self.subTest(size=size, program=program.name):
                    self.assertEqual(self.run_model(program, written, size), want)

    def check_library(self, folder):
        """A mini library is small, needs only the C and C++ libraries, and exports only the public API."""
        library = folder / "lib/libtern.so"
        stripped = self.dir / "stripped.so"
        must("strip", "-o", stripped, library)
        self.assertLess(stripped.stat().st_size, LIMIT)
        needed = [line.split("[")[1].split("]")[0] for line in must("readelf", "-d", library).splitlines() if "(NEEDED)" in line]
        allowed = ("libstdc++.so", "libm.so", "libgcc_s.so", "libc.so", "ld-linux")
        self.assertEqual([name for name in needed if not name.startswith(allowed)], [])
        names = [line.split(maxsplit=2)[2] for line in must("nm", "-DC", "--defined-only", library).splitlines()]
        self.assertIn("tern::v1::Predictor::Run()", names)
        self.assertEqual([name for name in names if "tern::v1::" not in name and not name.startswith("tern_")], [])

    def test_the_results_equal_those_of_the_full_library(self):
        self.same_results((self.shared, self.static), DIGITS, self.digits, (1, 2, 5, 8, 33, 64))

    def test_the_library_is_small_and_needs_no_third_party_library(self):
        self.check_library(self.digits)

    def test_a_missing_op_is_named(self):
        model = self.dir / "relu.tern"
        text = self.dir / "relu.py"
        text.write_text("import onnx, sys\nfrom onnx import TensorProto as T, helper as h\n"
                        "x, y = (h.make_tensor_value_info(n, T.FLOAT, [2]) for n in 'xy')\n"
                        "g = h.make_graph([h.make_node('Erf', ['x'], ['y'], name='erf')], 'g', [x], [y])\n"
                        "onnx.save(h.make_model(g, opset_imports=[h.make_opsetid('', 13)], ir_version=8), sys.argv[1])\n")
        must(ROOT / ".venv/bin/python", text, self.dir / "relu.onnx")
        must(TERN, "convert", self.dir / "relu.onnx", "-o", model)
        self.refused(self.shared, model, "op 'Unary'", "'erf'", "TERN_OPS_FROM")

    def test_other_formats_are_refused(self):
        self.refused(self.shared, DIGITS, "ONNX", "mini")

    def test_another_instruction_set_is_refused(self):
        model = self.digits / "mini/models/digits.tern"
        self.refused(self.shared, model, "kernels for 'avx2' only", "TERN_ISA='sse4'", env={"TERN_ISA": "sse4"})

    def test_the_build_refuses_a_missing_or_unknown_instruction_set(self):
        for isa, says in (("", "TERN_ISA=avx2"), ("mmx", "'mmx' is not an instruction set")):
            with self.subTest(isa=isa):
                done = call("cmake", "-S", ROOT, "-B", self.dir / "refused", "-G", "Ninja", f"-DTERN_ISA={isa}",
                            f"-DTERN_HOST_TOOL={TERN}", f"-DTERN_OPS_FROM={DIGITS}")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(says, done.stderr)

    @unittest.skipUnless(os.environ.get("TERN_ZOO"), "TERN_ZOO does not name a folder of models")
    def test_mobilenet(self):
        model = pathlib.Path(os.environ["TERN_ZOO"]) / "models/onnx/mobilenetv2-7_fp32.onnx"
        folder = build("mobilenet", model)
        self.check_library(folder)
        program = runner(self.dir, "mobilenet", *shared(folder / "lib"))
        self.same_results((program,), model, folder, (1, 2, 3))
