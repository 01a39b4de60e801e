"""Tests that the kernel benchmark builds, runs and reports invalid options."""

import os
import pathlib
import subprocess
import unittest

TERN = os.environ.get("TERN_BIN", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/tern"))
BENCH = pathlib.Path(TERN).with_name("kernels_bench")


def run(*options):
    return subprocess.run([BENCH, *options], capture_output=True, text=True, timeout=60, check=False)


class KernelsBench(unittest.TestCase):
    def test_a_line_for_each_shape_and_type(self):
        done = run("33x40x50", "1x256x64", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([(line[0].strip(), line[1]) for line in lines], [(shape, dtype) for shape in ("33x40x50", "1x256x64") for dtype in ("f32", "bf16", "int8", "int4")])
        for shape, _, ms, rate, *_ in lines:
            self.assertRegex(ms, r"^\d+\.\d+ ms$")
            self.assertRegex(rate, r"^\d+\.\d G(FL)?OP/s$" if shape.strip() == "33x40x50" else r"^\d+\.\d GB/s$")

    def test_mistakes_are_refused(self):
        for options in (("1x2",), ("0x1x1",), ("--rounds",), ("99999x1x1",)):
            self.assertEqual(run(*options).returncode, 2, options)


if __name__ == "__main__":
    unittest.main()
