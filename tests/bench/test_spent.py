"""Tests bench/spent.py, which sums a model's time by kernel."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import spent  # noqa: E402


def node(kernel, ms, roof, depth=0):
    return {"kernel": kernel, "ms": ms, "percent_of_roof": roof, "depth": depth}


class Spent(unittest.TestCase):
    def test_kernels_are_added_up_and_weighed_by_their_time(self):
        found = spent.by_kernel([node("cpu.a.f32", 6, 100), node("cpu.b", 2, 10), node("cpu.a.f32", 2, 60), node("inside", 5, 1, depth=1)])
        self.assertEqual([group["kernel"] for group in found], ["cpu.a.f32", "cpu.b"])
        self.assertAlmostEqual(found[0]["share"], 0.8)
        self.assertAlmostEqual(found[0]["percent_of_roof"], 90)
        self.assertEqual(spent.words(found), "a 80 % at 90, b 20 % at 10")

    def test_what_cannot_be_counted_has_no_figure(self):
        found = spent.by_kernel([node("x", 1, None), node("x", 1, 50)])
        self.assertEqual(spent.words(found), "x 100 %")
        self.assertEqual(spent.words(spent.by_kernel([])), "")

    def test_waiting_are_steps_beyond_the_caches_whose_bytes_take_longest(self):
        def step(ms, flops, size, depth=0):
            return {"kernel": "cpu.x.f32", "ms": ms, "flops": flops, "bytes": size, "depth": depth}

        reads = step(2, 2e8, 4e8)  # reading takes 10 ms at 40 GB/s, computing 2 ms at 100 GFLOP/s
        others = [step(3, 4e9, 4e8), step(4, 1e6, 6e7), step(1, None, None), step(9, 2e8, 4e8, depth=1)]
        profile = {"peak_gflops": 100, "read_gb_per_s": 40, "nodes": [reads, *others]}
        self.assertAlmostEqual(spent.waiting(profile), 0.2)
        self.assertEqual(spent.waiting({**profile, "nodes": []}), 0)
        # Reading takes 16 ms. Computing takes 20 ms at the f32 peak, and 10 ms at the bf16 peak.
        fast = {**step(1, 2e9, 6.4e8), "kernel": "cpu.x.bf16"}
        self.assertEqual([spent.waiting({**profile, "nodes": [fast], **more}) for more in ({}, {"peak_gflops_bf16": 200})], [0, 1])


if __name__ == "__main__":
    unittest.main()
