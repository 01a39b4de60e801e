"""Tests when scripts/build starts a build, with a cmake and a ninja that only record their calls."""

import os
import pathlib
import shutil
import subprocess
import time
import unittest

from support import CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Currency(CliTest):
    def setUp(self):
        super().setUp()
        self.root = self.dir / "checkout"
        for name in ("src/a.cc", "tests/np/driver.cc", "tests/np/test_np.py", "bench/a.cc", "examples/a.cc", "CMakeLists.txt"):
            self.write(name)
        (self.root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/build", self.root / "scripts/build")
        tools = self.dir / "tools"
        tools.mkdir()
        for name, text in (("cmake", f"mkdir -p '{self.root}/build/release/bin'; touch '{self.root}/build/release/build.ninja'"),
                           ("ninja", f"echo >>'{self.dir}/ninja.log'")):
            (tools / name).write_text(f"#!/bin/sh\n{text}\n")
            (tools / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def write(self, name):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def builds(self, *arguments):
        """Returns whether scripts/build starts a build."""
        log = self.dir / "ninja.log"
        log.unlink(missing_ok=True)
        subprocess.run([self.root / "scripts/build", *arguments], env=self.environment, capture_output=True, check=True)
        time.sleep(0.01)  # the clock of the file system may have steps of several milliseconds
        return log.exists()

    def test_a_changed_added_or_removed_source_starts_one_build(self):
        self.assertTrue(self.builds())
        self.assertFalse(self.builds())
        for folder in ("src", "tests/np", "bench", "examples"):
            for change in (lambda path: path.touch(), lambda path: path.with_name("b.cc").touch(), lambda path: path.with_name("b.cc").unlink(),
                           lambda path: path.rename(path.with_name("c.cc")), lambda path: path.with_name("c.cc").rename(path)):
                change(self.root / folder / ("driver.cc" if folder == "tests/np" else "a.cc"))
                self.assertTrue(self.builds(), folder)
                self.assertFalse(self.builds(), folder)

    def test_files_that_python_writes_among_tests_start_none(self):
        self.assertTrue(self.builds())
        self.write("tests/np/__pycache__/test_np.cpython-311.pyc")
        self.write("tests/np/test_more.py")
        self.assertFalse(self.builds())

    def test_the_product_has_no_tests(self):
        self.assertTrue(self.builds("release", "product"))
        (self.root / "tests/np/driver.cc").unlink()
        self.assertFalse(self.builds("release", "product"))
        self.write("src/b.cc")
        self.assertTrue(self.builds("release", "product"))


if __name__ == "__main__":
    unittest.main()
