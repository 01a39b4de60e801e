"""Tests the benchmark's arithmetic and output for given measurements."""

import math
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import chart  # noqa: E402
import feeds  # noqa: E402
import figures  # noqa: E402
import rounding  # noqa: E402
import table  # noqa: E402


def timed(ms, spread=0.0):
    return {"status": "ok", "ms": ms, "spread": spread, "error": 0.0, "peak_mb": 1.0, "load_ms": 2.0, "first_run_ms": 3.0}


FAILED = {"status": "failed", "reason": "no"}
WRONG = {"status": "wrong", "reason": "no", "error": 1.0}
ROWS = [{"model": "a<b&c", "threads": 1, "engines": {"tern": timed(2), "ort": timed(4), "mnn": timed(1)}},
        {"model": "plain", "threads": 1, "engines": {"tern": timed(2), "ort": timed(4), "mnn": FAILED}},
        {"model": "third", "threads": 1, "engines": {"tern": FAILED, "ort": timed(4), "mnn": WRONG}}]
PEERS = ("ort", "mnn")


class Ratios(unittest.TestCase):
    def test_above_one_means_tern_is_faster(self):
        self.assertEqual(figures.ratio(ROWS[0]["engines"], "ort"), 2)
        self.assertEqual(figures.ratio(ROWS[0]["engines"], "mnn"), 0.5)

    def test_whoever_is_wrong_or_fails_has_none(self):
        self.assertIsNone(figures.ratio(ROWS[1]["engines"], "mnn"))
        self.assertIsNone(figures.ratio(ROWS[2]["engines"], "ort"))
        self.assertIsNone(figures.ratio(ROWS[0]["engines"], None))

    def test_best_peer_is_the_fastest_right_one_and_never_tern(self):
        self.assertEqual([figures.best_peer(row["engines"]) for row in ROWS], ["mnn", "ort", "ort"])
        self.assertIsNone(figures.best_peer({"tern": timed(1), "base": timed(1), "mnn": WRONG}))

    def test_spread_is_that_of_who_counts(self):
        engines = {"tern": timed(2, 0.01), "single": timed(1, 0.02), "ort": timed(3, 0.03), "mnn": timed(4, 0.5)}
        self.assertEqual(figures.spread(engines), 0.03)
        self.assertEqual(figures.spread({**engines, "single": timed(1, 0.2)}), 0.2)
        self.assertEqual(figures.spread({"tern": timed(2, 0.01), "ort": FAILED}), 0.01)
        self.assertIsNone(figures.spread({**engines, "tern": WRONG}))

    def test_summary(self):
        found = figures.summary(ROWS, PEERS)
        self.assertAlmostEqual(found["peers"]["ort"], 2)
        self.assertAlmostEqual(found["peers"]["mnn"], 0.5)
        self.assertAlmostEqual(found["best"], 1)  # the geometric mean of 0.5 and 2
        self.assertEqual((found["worst_model"], found["models"], found["compared"]), (0.5, 3, 2))

    def test_lasting_models_are_those_whose_best_peer_takes_a_while(self):
        self.assertEqual(figures.lasting(ROWS), ROWS)
        short = {"engines": {"tern": timed(9), "ort": timed(0.6), "mnn": timed(0.4)}}
        self.assertEqual(figures.lasting([short, {"engines": {"tern": timed(1)}}]), [])
        self.assertEqual(len(figures.lasting([{"engines": {**short["engines"], "mnn": WRONG}}])), 1)

    def test_geomean(self):
        self.assertAlmostEqual(figures.geomean([1, 10, 100]), 10)
        self.assertTrue(math.isnan(figures.geomean([])))

    def test_percent_of_peak(self):
        self.assertAlmostEqual(figures.percent_of_peak(2e9, ms=10, peak_gflops=100, threads=2), 100)


class Threads(unittest.TestCase):
    ROW = {"threads": 2, "flops": 850e6, "peak_gflops": 100, "peak_gflops_threads": 190, "single": timed(10), "engines": {"tern": timed(5)}}

    def test_gain_of_tern_and_of_the_loop(self):
        self.assertEqual(figures.over_single(self.ROW), (2, 1.9))
        self.assertEqual(figures.over_single({**self.ROW, "single": FAILED}), (None, 1.9))
        self.assertEqual(figures.over_single(ROWS[0]), (None, None))

    def test_permitted_is_what_reading_and_computing_gain_together(self):
        reads = {"read_gb_per_s": 30, "read_gb_per_s_threads": 36}
        self.assertAlmostEqual(figures.permitted({**self.ROW, **reads, "waiting": 0}), 1.9)
        self.assertAlmostEqual(figures.permitted({**self.ROW, **reads, "waiting": 0.5}), 2 / (1 / 1.2 + 1 / 1.9))
        self.assertIsNone(figures.permitted({**self.ROW, **reads}))
        self.assertIsNone(figures.permitted({**self.ROW, "waiting": 0}))

    def test_the_better_of_two_times_on_one_thread_decides(self):
        slow = {**self.ROW, "single": timed(20)}
        alone = {"threads": 1, "flops": 850e6, "peak_gflops": 100, "engines": {"tern": timed(10)}}
        self.assertTrue(figures.compute_bound(slow, alone))
        self.assertTrue(figures.compute_bound(self.ROW, {**alone, "engines": {"tern": timed(20)}}))
        self.assertFalse(figures.compute_bound(slow, {**alone, "engines": {"tern": timed(20)}}))
        self.assertFalse(figures.compute_bound(slow, {**alone, "engines": {"tern": FAILED}}))

    def test_compute_bound_is_near_the_peak_on_one_thread(self):
        self.assertTrue(figures.compute_bound(self.ROW))  # 85 % of the peak
        self.assertFalse(figures.compute_bound({**self.ROW, "single": timed(20)}))
        self.assertFalse(figures.compute_bound({**self.ROW, "flops": None}))
        self.assertFalse(figures.compute_bound(ROWS[0]))


def point(size, tern, ort):
    return {"size": size, "engines": {"tern": timed(tern), "ort": timed(ort) if ort else FAILED}}


class Growth(unittest.TestCase):
    def test_step_is_per_item_but_for_threads(self):
        before, after = point(1, 1, None), point(4, 6, None)
        self.assertEqual(figures.step(after, before, "tern", "batch"), 1.5)
        self.assertEqual(figures.step(after, before, "tern", "threads"), 6)
        self.assertIsNone(figures.step(after, before, "ort", "batch"))
        self.assertIsNone(figures.step(before, None, "tern", "batch"))

    def test_a_cliff_is_a_step_that_no_peer_has(self):
        alone, shared = [point(1, 1, 1), point(2, 4, 2)], [point(1, 1, 1), point(2, 4, 4)]
        self.assertEqual(figures.cliffs(alone, ["ort"], "batch"), [2])
        self.assertEqual(figures.cliffs(shared, ["ort"], "batch"), [])
        self.assertEqual(figures.cliffs([point(1, 1, None), point(2, 4, None)], ["ort"], "batch"), [])


class Timing(unittest.TestCase):
    def test_best_median_spread(self):
        found = figures.timing([[3, 2, 9], [4, 5, 6], [2.5, 7, 8]])
        self.assertEqual((found["ms"], found["median_ms"], found["runs"]), (2, 5, 9))
        # The best times of the rounds are 2, 4 and 2.5. Their median is 2.5, which is 25 % more than the best time 2.
        self.assertAlmostEqual(found["spread"], 0.25)

    def test_a_run_that_the_clock_does_not_see_has_no_spread(self):
        self.assertEqual(figures.timing([[0, 0], [0, 1]])["spread"], 0)


class Errors(unittest.TestCase):
    def worst(self, got, wanted):
        return figures.worst_error([np.array(got, np.float32)], [np.array(wanted, np.float32)])

    def test_share_of_the_largest(self):
        self.assertAlmostEqual(self.worst([1, 5], [1, 4]), 0.25)
        self.assertEqual(self.worst([0, 0], [0, 0]), 0)

    def test_shapes_and_nans(self):
        self.assertEqual(self.worst([1, 2], [1]), math.inf)
        self.assertEqual(self.worst([math.nan, 1], [1, 1]), math.inf)
        self.assertEqual(self.worst([1, 1], [math.nan, 1]), math.inf)
        self.assertEqual(self.worst([math.nan, 1], [math.nan, 1]), 0)
        self.assertEqual(self.worst([[1], [2]], [[1, 2]]), math.inf)
        self.assertEqual(self.worst([], []), 0)
        self.assertEqual(self.worst([math.inf], [-math.inf]), math.inf)


class Verdicts(unittest.TestCase):
    def test_exact_in_fp32(self):
        self.assertEqual(figures.judged(0.005, None), ("ok", ""))
        self.assertEqual(figures.judged(0.006, None)[0], "wrong")
        self.assertEqual(figures.judged(math.inf, None)[0], "wrong")

    def test_by_what_rounding_does_in_bf16(self):
        self.assertEqual(figures.judged(0.015, 0.0)[0], "ok")
        self.assertEqual(figures.judged(0.04, 0.0)[0], "wrong")
        self.assertEqual(figures.judged(0.3, 0.1)[0], "ok")
        self.assertEqual(figures.judged(0.35, 0.1), ("wrong", "differs from the first engine in fp32 by 0.35 of its largest output; at most 0.32 is accepted"))
        self.assertEqual([figures.judged(error, 0.2)[0] for error in (0.0, 0.4, math.inf)], ["inconclusive", "inconclusive", "wrong"])

    def test_rounding(self):
        one = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -3e38, np.inf, -np.inf, np.nan, 1e-40], np.float32)
        rounded = rounding.to_bf16(one)
        np.testing.assert_array_equal(rounded[:4], [1, 1, 1 + 2**-6, 1 + 2**-7])  # ties to even
        np.testing.assert_array_equal(rounded[5:8], one[5:8])
        self.assertTrue((rounded[np.isfinite(rounded)].view(np.uint32) & 0xFFFF == 0).all())
        np.testing.assert_allclose(rounded[4], one[4], rtol=2**-8)

    def test_weights_of_products_are_rounded_and_nothing_else(self):
        values = np.full((2, 2), 1 + 2**-10, np.float32)
        nodes = [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(values)), helper.make_node("MatMul", ["c", "w"], ["y"])]
        graph = helper.make_graph(nodes, "g", [], [], [numpy_helper.from_array(values, "w"), numpy_helper.from_array(values[0], "bias")])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(helper.make_model(graph), path)
            rounding.round_weights(path, path)
            found = onnx.load(path).graph
        np.testing.assert_array_equal(numpy_helper.to_array(found.node[0].attribute[0].t), np.ones((2, 2)))
        np.testing.assert_array_equal(numpy_helper.to_array(found.initializer[0]), np.ones((2, 2)))
        np.testing.assert_array_equal(numpy_helper.to_array(found.initializer[1]), values[0])


class Texts(unittest.TestCase):
    def test_rows_have_the_columns_of_the_header(self):
        for row in ROWS:
            self.assertEqual(len(table.row(row, PEERS)), len(table.header(PEERS)))

    def test_cells(self):
        cells = dict(zip(table.header(PEERS), table.row(ROWS[2], PEERS)))
        self.assertEqual([cells[k] for k in ("tern", "ort", "mnn", "/best")], ["–", "4.00", "wrong", "–"])
        self.assertEqual(table.cell_ms({"status": "inconclusive"}), "?")
        self.assertEqual([cells[k] for k in ("start", "start ort", "start mnn", "MB ort")], ["–", "5", "–", "1"])

    def test_geomeans_stand_below_their_columns(self):
        cells = dict(zip(table.header(PEERS), table.geomeans(figures.summary(ROWS, PEERS), PEERS)))
        self.assertEqual([cells[k] for k in ("model", "/ort", "/mnn", "/best")], ["geomean", "2.000", "0.500", "1.000"])


class Charts(unittest.TestCase):
    def test_ratios_are_well_formed(self):
        report = {"precision": "fp32", "rows": ROWS + [{**row, "threads": 2} for row in ROWS]}
        root = xml.fromstring(chart.ratios(report))
        words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("a<b&c", words)
        self.assertNotIn("third", words)  # Tern failed there
        self.assertIn("0.50 / 0.50", words)

    def test_the_overview_has_a_dot_per_model_and_a_mean_per_peer(self):
        report = {"precision": "fp32", "peers": PEERS, "machine": {"cpu": "a<b"}, "date": "today", "rows": ROWS + [{**row, "threads": 2} for row in ROWS]}
        root = xml.fromstring(chart.overview(report, {"ort": "onnxruntime"}))
        words = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([words.count(word) for word in ("onnxruntime", "mnn", "1 thread", "2.00×", "0.50×", "third")], [2, 2, 2, 2, 2, 0])
        compared = sum(figures.ratio(row["engines"], peer) is not None for row in ROWS for peer in PEERS)
        self.assertEqual(len(list(root.iter("{http://www.w3.org/2000/svg}circle"))), 2 * compared)

    def test_growth_is_well_formed(self):
        series = [{"model": "a<b", "axis": "batch", "points": [point(1, 1, 2), point(2, 3, None)]},
                  {"model": "none", "axis": "batch", "points": [{"size": 1, "engines": {"tern": FAILED}}]}]
        root = xml.fromstring(chart.growth({"peers": ["ort"], "machine": {"cores": 2}, "series": series}))
        self.assertEqual(len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))), 2)


class Feeds(unittest.TestCase):
    SPEC = {"name": "ids", "dtype": "int64", "dims": [1, 128], "symbols": {"0": "batch", "1": "length"}, "kind": "ids", "high": 50}

    def test_sizes_replace_symbols(self):
        self.assertEqual(feeds.make(self.SPEC).shape, (1, 128))
        self.assertEqual(feeds.make(self.SPEC, {"length": 16, "other": 3}).shape, (1, 16))

    def test_same_every_time_and_in_range(self):
        values = feeds.make(self.SPEC)
        np.testing.assert_array_equal(values, feeds.make(self.SPEC))
        self.assertTrue((0 <= values).all() and (values < 50).all() and values.max() > 25)


if __name__ == "__main__":
    unittest.main()
