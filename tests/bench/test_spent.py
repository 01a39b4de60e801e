"""Where a model's time goes."""

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


if __name__ == "__main__":
    unittest.main()
