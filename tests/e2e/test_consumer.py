"""Installs Tern and builds a separate project against it, with CMake and with pkg-config."""

import os
import pathlib
import subprocess

import numpy as np

from support import TERN, CliTest, mlp

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(TERN).resolve().parents[1]


class Consumer(CliTest):
    def call(self, *command, **kwargs):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=600, **kwargs)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def setUp(self):
        super().setUp()
        self.prefix = self.dir / "prefix"
        self.call("cmake", "--install", BUILD, "--prefix", self.prefix)
        model, w, b = mlp()
        self.onnx, self.tern = self.save(model), self.dir / "m.tern"
        self.call(self.prefix / "bin/tern", "convert", self.onnx, "-o", self.tern)
        self.want = np.maximum(np.ones((2, 4), np.float32) @ w + b, 0)

    def check(self, program, **kwargs):
        for model in (self.onnx, self.tern):
            words = self.call(program, model, **kwargs).split()
            self.assertEqual(words[:4], ["y", "f32", "2", "3"])
            np.testing.assert_allclose(np.array(words[4:], np.float32), self.want.ravel(), rtol=1e-4, atol=1e-5)

    def build(self):
        """Builds with ninja, because scripts/deps does not install make."""
        self.call("cmake", "-G", "Ninja", "-S", ROOT / "tests/consumer", "-B", self.dir / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.call("cmake", "--build", self.dir / "build")
        return self.dir / "build/consumer"

    def test_find_package(self):
        self.check(self.build())

    def test_pkg_config(self):
        libs = next(self.prefix.glob("lib*/**/pkgconfig"))
        env = dict(os.environ, PKG_CONFIG_PATH=str(libs))
        flags = self.call("pkg-config", "--cflags", "--libs", "tern", env=env).split()
        flags.append("-Wl,-rpath," + self.call("pkg-config", "--variable=libdir", "tern", env=env).strip())
        program = self.dir / "consumer"
        self.call("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", ROOT / "tests/consumer/main.cc", "-o", program, *flags, "-pthread")
        self.check(program)

    def test_the_library_needs_no_third_party(self):
        library = next(self.prefix.glob("lib*/**/libtern.so"))
        needed = [line.split("[")[1].rstrip("]") for line in self.call("readelf", "-d", library).splitlines() if "(NEEDED)" in line]
        allowed = ("libstdc++", "libm.", "libgcc_s", "libc.", "libpthread", "libdl", "ld-linux", "libasan", "libubsan", "libtsan")
        self.assertEqual([name for name in needed if not name.startswith(allowed)], [])

    def test_a_missing_importer_is_named_with_its_folder(self):
        program, library = self.build(), next(self.prefix.glob("lib*/**/libtern_onnx.so"))
        library.unlink()
        self.assertIn("y f32 2 3", self.call(program, self.tern))
        env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        done = subprocess.run([program, self.onnx], capture_output=True, text=True, check=False, env=env)
        self.assertEqual(done.returncode, 2)
        for words in ("libtern_onnx.so, which reads ONNX models, is missing", f"'{library.parent}/'", str(self.onnx)):
            self.assertIn(words, done.stderr)

    def moved(self, model, folder, **env):
        """Runs a program without rpath that changes to `folder` and then loads the model. Returns what the program
        prints."""
        lib, source, program = next(self.prefix.glob("lib*/**/libtern.so")).parent, self.dir / "moved.cc", self.dir / "moved"
        source.write_text("""#include <tern/tern.hpp>
#include <unistd.h>
#include <cstdio>
int main(int, char** argv) {
  if (chdir(argv[1])) return 3;
  const auto predictor = tern::Predictor::Create(tern::Config(argv[2]));
  std::puts(predictor.ok() ? "loaded" : predictor.status().message().c_str());
}
""")
        self.call("c++", "-std=c++17", source, "-o", program, f"-I{self.prefix}/include", f"-L{lib}", "-ltern", "-pthread")
        return self.call(program, folder, model, cwd=self.dir, env={**os.environ, **env}).strip()

    def test_importers_are_not_searched_in_the_current_folder(self):
        lib = next(self.prefix.glob("lib*/**/libtern.so")).parent.relative_to(self.dir)
        planted = self.dir / "elsewhere" / lib
        planted.mkdir(parents=True)
        (self.dir / "planted.cc").write_text(
            '#include <cstdio>\n#include <cstdlib>\n'
            '__attribute__((constructor)) static void Start() { std::puts("planted"), std::fflush(stdout), std::_Exit(0); }\n')
        self.call("c++", "-shared", "-fPIC", self.dir / "planted.cc", "-o", planted / "libtern_onnx.so")
        self.assertEqual(self.moved(self.onnx, self.dir / "elsewhere", LD_LIBRARY_PATH=str(lib)), "loaded")

    def test_importers_are_found_through_a_link_to_the_library(self):
        links = self.dir / "links"
        links.mkdir()
        (links / "libtern.so.0").symlink_to(next(self.prefix.glob("lib*/**/libtern.so.0")))
        self.assertEqual(self.moved(self.onnx, "/", LD_LIBRARY_PATH=str(links)), "loaded")

    def test_a_missing_model_is_a_message(self):
        done = subprocess.run([self.build(), "none.onnx"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.onnx", done.stderr)
