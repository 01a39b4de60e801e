"""Installs Tern, and builds and runs the examples in C and Rust against the installation. Checks that the C headers compile
in every dialect."""

import os
import pathlib
import shutil
import subprocess
import unittest

from support import TERN, CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(TERN).resolve().parents[1]
DIGITS = ROOT / "examples/digits/digits.onnx"
DRAWINGS = ROOT / "examples/c/digits.txt"
WARNINGS = ("-Wall", "-Wextra", "-pedantic", "-Werror")


class CApi(CliTest):
    def call(self, *command, code=0, **kwargs):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=600, **kwargs)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done

    def install(self):
        prefix = self.dir / "prefix"
        self.call("cmake", "--install", BUILD, "--prefix", prefix)
        self.library = next(prefix.glob("lib*/**/libtern.so")).parent
        return prefix

    def check(self, program):
        env = dict(os.environ, LD_LIBRARY_PATH=str(self.library))
        lines = self.call(program, DIGITS, DRAWINGS, env=env).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["7", "2", "0", "9", "4"])
        for line in lines:
            self.assertGreater(float(line.split()[1]), 0.9)
        missing = self.call(program, "none.onnx", DRAWINGS, code=2, env=env)
        self.assertIn("cannot open 'none.onnx'", missing.stderr)
        self.assertIn("28x28", self.call(program, DIGITS, ROOT / "README.md", code=2, env=env).stderr)
        self.assertIn("usage", self.call(program, code=2, env=env).stderr)

    def test_the_example_in_c(self):
        env = dict(os.environ, PKG_CONFIG_PATH=str(next(self.install().glob("lib*/**/pkgconfig"))))
        flags = self.call("pkg-config", "--cflags", "--libs", "tern", env=env).stdout.split()
        program = self.dir / "digits"
        self.call("cc", "-std=c11", *WARNINGS, ROOT / "examples/c/digits.c", "-o", program, *flags)
        self.check(program)

    def test_a_cmake_project_in_c_only(self):
        prefix = self.install()
        self.call("cmake", "-G", "Ninja", "-S", ROOT / "tests/consumer/c", "-B", self.dir / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.call("cmake", "--build", self.dir / "build")
        self.check(self.dir / "build/digits")

    @unittest.skipUnless(shutil.which("rustc"), "rustc is missing; scripts/deps rust installs it")
    def test_the_example_in_rust(self):
        self.install()
        program = self.dir / "digits"
        self.call("rustc", "-O", "-D", "warnings", "--edition", "2021", ROOT / "examples/rust/digits.rs", "-L", f"native={self.library}", "-o", program)
        self.check(program)

    def test_the_headers_compile_in_every_dialect(self):
        both = self.dir / "both.c"
        both.write_text("#include <tern/tern.h>\n#include <tern/backend.h>\n#include <tern/tern.h>\nint used = TERN_API_VERSION;\n")
        for dialect in ("c99", "c11", "c17"):
            self.call("cc", f"-std={dialect}", *WARNINGS, "-fsyntax-only", f"-I{ROOT}/include", both)
        for dialect in ("c++98", "c++17", "c++20"):
            self.call("c++", "-x", "c++", f"-std={dialect}", *WARNINGS, "-fsyntax-only", f"-I{ROOT}/include", both)
        both.write_text("#include <tern/tern.hpp>\n#include <tern/tern.h>\n#include <tern/backend.h>\nint used = TERN_API_VERSION;\n")
        self.call("c++", "-x", "c++", "-std=c++17", *WARNINGS, "-fsyntax-only", f"-I{ROOT}/include", both)
        for header in sorted((ROOT / "include/tern/c").glob("*.h")):
            both.write_text(f"#include <tern/c/{header.name}>\nint used;\n")
            self.call("cc", "-std=c11", *WARNINGS, "-fsyntax-only", f"-I{ROOT}/include", both)

    def test_a_status_that_is_not_used_is_a_warning(self):
        source = self.dir / "unused.c"
        source.write_text("#include <tern/tern.h>\nvoid f(TernPredictor* p) { tern_predictor_run(p, 0); }\n")
        done = self.call("cc", "-std=c11", "-Werror", "-c", f"-I{ROOT}/include", source, "-o", self.dir / "unused.o", code=1)
        self.assertIn("warn_unused_result", done.stderr)


if __name__ == "__main__":
    unittest.main()
