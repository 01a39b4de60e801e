"""The files of a wheel, whose path is TERN_WHEEL. `./tern test python` builds one; a plain run has none."""

import os
import pathlib
import posixpath
import re
import subprocess
import sys
import unittest
import zipfile

import tern
from elf import Elf, is_elf

WHEEL = os.environ.get("TERN_WHEEL")
RUN_TIME = re.compile(r"^(ld-linux-.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so\.\d+$")
OWN = re.compile(r"^tern/(lib/libtern[^/]*|bin/tern|_tern[^/]*)$")  # the files that are linked in this project


class ReadElf(unittest.TestCase):
    def test_the_built_library(self):
        folder = pathlib.Path(tern.__file__).parent
        library = Elf((folder / "lib" / "libtern.so.0").read_bytes())
        self.assertTrue(library.needed)
        self.assertEqual([name for name in library.needed if not RUN_TIME.match(name)], [])
        extension = Elf(next(folder.glob("_tern*.so")).read_bytes())
        self.assertIn("libtern.so.0", extension.needed)

    def test_other_files(self):
        for data in (b"", b"text", b"\x7fELF\x01\x01" + bytes(60)):
            with self.assertRaises(ValueError):
                Elf(data)


@unittest.skipUnless(WHEEL, "TERN_WHEEL names no wheel")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wheel = zipfile.ZipFile(WHEEL)
        cls.addClassCleanup(cls.wheel.close)
        cls.elves = {}
        for name in cls.wheel.namelist():
            data = cls.wheel.read(name)
            if is_elf(data):
                cls.elves[name] = Elf(data)

    def test_files(self):
        names = self.wheel.namelist()
        for name in ("tern/__init__.py", "tern/py.typed", "tern/__init__.pyi", "tern/bin/tern", "tern/lib/libtern.so.0",
                     "tern/lib/libtern_onnx.so", "tern/lib/libtern_server.so", "tern/onnxruntime/capi/onnxruntime_pybind11_state.py"):
            self.assertIn(name, names)
        self.assertTrue([name for name in names if name.startswith("tern/_tern.")])
        self.assertEqual([name for name in names if name.endswith((".hpp", ".h", ".a", ".cmake"))], [])
        self.assertEqual(len(set(names)), len(names))

    def test_no_library_is_stored_twice(self):
        """A link to a library would become a copy."""
        sums = [self.wheel.getinfo(name).CRC for name in self.elves]
        self.assertEqual(len(set(sums)), len(sums))

    def test_the_program_is_executable(self):
        self.assertTrue(self.wheel.getinfo("tern/bin/tern").external_attr >> 16 & 0o111)

    def test_needs_only_the_run_time_from_outside(self):
        inside = {posixpath.basename(name) for name in self.elves}
        for name, elf in self.elves.items():
            outside = [library for library in elf.needed if library not in inside]
            self.assertEqual([library for library in outside if not RUN_TIME.match(library)], [], name)

    def test_finds_its_libraries(self):
        """DT_RPATH also holds for the libraries of libraries, DT_RUNPATH does not."""
        for name, elf in self.elves.items():
            self.assertEqual(elf.runpath, "", name)
            self.assertNotIn("/", elf.rpath.replace("$ORIGIN/../lib", "").replace("$ORIGIN/lib", ""), name)
            needs_own = any(library.startswith("libtern") for library in elf.needed)
            if OWN.match(name) and (needs_own or name.startswith("tern/bin")):
                self.assertTrue(elf.rpath.startswith("$ORIGIN"), name)

    def test_the_loader_takes_the_libraries_of_the_package(self):
        folder = pathlib.Path(tern.__file__).parent
        for name in filter(OWN.match, self.elves):
            done = subprocess.run(["ldd", folder.parent / name], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]})
            for line in done.stdout.splitlines():
                library, arrow, path = line.strip().partition(" => ")
                if arrow and not RUN_TIME.match(library):
                    self.assertTrue(path.startswith(str(folder)), f"{name}: {line}")

    def test_the_command_serves(self):
        """The option exists only in libtern_server, so this loads it."""
        folder = pathlib.Path(tern.__file__).parent
        done = subprocess.run([folder / "bin" / "tern", "serve", "--help"], capture_output=True, text=True, check=True, env={})
        self.assertIn("--http-port", done.stdout + done.stderr)
        self.assertEqual(subprocess.run([sys.executable, "-m", "tern", "demo"], capture_output=True, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
