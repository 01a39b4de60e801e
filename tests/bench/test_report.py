"""Tests the text that is generated from measurements for the performance report, and that the report in this checkout
is up to date."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORT = ROOT / "bench" / "report.py"
TEXT = "before\n<!-- fp32 summary -->\nold\n<!-- end -->\nbetween\n<!-- fp32 models -->\n<!-- end -->\n<!-- growth -->\n<!-- end -->\nafter\n"
MORE = "<!-- fp32 summary -->\n<!-- end -->\n<!-- fp32 machine -->\n<!-- end -->\n<!-- fp32 spent -->\n<!-- end -->\n<!-- fp32 threads -->\n<!-- end -->\n"


def timed(ms, spread=0.01):
    return {"status": "ok", "ms": ms, "spread": spread, "error": 0.0, "peak_mb": 1.0, "load_ms": 2.0, "first_run_ms": 3.0}


MEASURED = {"method": 2, "machine": {"cpu": "made up", "simd": "few", "bf16_products": False, "cores": 1}, "versions": {"ort": "1"}, "precision": "fp32", "peers": ["ort"],
            "clock": "wall", "rounds": 1, "seconds": 1.0,
            "rows": [{"model": "small", "threads": 1, "percent_of_peak": 50.4, "engines": {"tern": timed(2.0), "ort": timed(3.00000001, 0.034)}}],
            "summaries": {"1": {"models": 1, "compared": 1, "best": 1.5, "worst_model": 1.5, "peers": {"ort": 1.5}}}}


class Report(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tern_report_")
        self.addCleanup(holder.cleanup)
        self.docs = pathlib.Path(holder.name)
        (self.docs / "performance.md").write_text(TEXT)
        (self.docs / "new.json").write_text(json.dumps(MEASURED))

    def report(self, *options, docs=None):
        command = [sys.executable, REPORT, "--docs", docs or self.docs, *options]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)

    def test_sections_are_replaced_and_text_stays(self):
        done = self.report("--fp32", self.docs / "new.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.docs / "performance.md").read_text()
        self.assertNotIn("old", text)
        for words in ("before\n", "\nbetween\n", "\nafter\n", "| small | 2.00 | 3.00 | 1.50 | 3 | 50 | 1 / 1 | 5 / 5 |",
                      "| 1 | 1.50 | 1.50 | 1.50 | 1 of 1 |", "Not measured yet."):
            self.assertIn(words, text)
        self.assertTrue((self.docs / "performance_fp32.svg").read_text().startswith("<svg"))

    def told(self, **changes):
        """Returns the generated report for the measurement MEASURED, in which `changes` replace some fields."""
        (self.docs / "performance.md").write_text(MORE)
        (self.docs / "changed.json").write_text(json.dumps({**MEASURED, **changes}))
        done = self.report("--fp32", self.docs / "changed.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.docs / "performance.md").read_text()

    def test_how_it_was_measured_is_told(self):
        self.assertIn("Against onnxruntime 1. A quick run (`--quick`): 3 rounds of 0.15 s for each engine.\n", self.told(rounds=3, seconds=0.15))
        text = self.told(rounds=7, seconds=0.4, date="2026-01-02", clock="processor")
        self.assertNotIn("quick", text)
        self.assertNotIn("took", text)
        self.assertIn("7 rounds of 0.4 s for each engine, on 2026-01-02. Times are processor time", text)

    def test_means_without_short_models_and_what_a_call_costs(self):
        self.assertNotIn("best peer ≥", self.told())
        self.assertNotIn("empty model", self.told())
        rows = [*MEASURED["rows"], {"model": "short", "threads": 1, "engines": {"tern": timed(0.01), "ort": timed(0.1)}}]
        found = {**MEASURED["summaries"]["1"], "models": 2, "compared": 2, "call_ms": {"ort": 0.0024, "tern": 0.0005}}
        text = self.told(rows=rows, summaries={"1": found})
        self.assertIn("| 1 | 1.50 | 1.50 | 1.50 | 2 of 2 |\n| 1, best peer ≥ 0.5 ms | 1.50 | 1.50 | 1.50 | 1 of 2 |\n", text)
        self.assertIn("One call of an empty model (Relu of one number), µs: onnxruntime 2.4, Tern 0.5 (1 thread).\n", text)

    def test_who_is_left_out_is_named_with_the_reason(self):
        self.assertNotIn("Left out", self.told())
        wrong, unclear = {"status": "wrong", "reason": "differs"}, {"status": "inconclusive", "reason": "rounding alone"}
        rows = [{"model": "a", "threads": n, "engines": {"tern": timed(1), "ort": wrong}} for n in (1, 2)]
        rows.append({"model": "b", "threads": 1, "engines": {"ort": unclear, "tern": unclear}})
        text = self.told(rows=rows, summaries={n: MEASURED["summaries"]["1"] for n in ("1", "2")})
        self.assertIn("\nLeft out:\n\n- a, onnxruntime: wrong; differs.\n- b, onnxruntime and Tern: inconclusive; rounding alone.\n", text)

    def test_how_long_it_took_is_told(self):
        self.assertIn("1 rounds of 1.0 s for each engine; it took 11 min.\n", self.told(took_seconds=687))

    def test_instructions_in_use_are_named(self):
        self.assertIn("\nmade up (few), 1 cores. Against", self.told())
        self.assertIn("\nmade up (few, bf16 dot products), 1 cores. Against", self.told(machine={**MEASURED["machine"], "bf16_products": True}))

    def test_threads_beyond_the_cores_are_marked(self):
        machine = {**MEASURED["machine"], "cores": 2}
        rows, summaries = [{**MEASURED["rows"][0], "threads": n} for n in (2, 4)], {n: MEASURED["summaries"]["1"] for n in ("2", "4")}
        (self.docs / "many.json").write_text(json.dumps({**MEASURED, "machine": machine, "rows": rows, "summaries": summaries}))
        points = [{"size": n, "engines": {"tern": timed(10 * n)}} for n in (1, 2, 4)]
        series = [{"model": "small", "axis": axis, "threads": 1, "points": points, "cliffs": []} for axis in ("threads", "batch")]
        (self.docs / "growth.json").write_text(json.dumps({**MEASURED, "machine": machine, "series": series}))
        self.assertEqual(self.report("--fp32", self.docs / "many.json", "--growth", self.docs / "growth.json").returncode, 0)
        text, svg = ((self.docs / name).read_text() for name in ("performance.md", "performance_growth.svg"))
        for words in ("\n2 threads, ms:", "\n4 threads (on 2 cores, where Tern uses 2), ms:",
                      "At no size is Tern's step clearly larger than the step of every peer. Tern uses at most as many threads as there are "
                      "cores (2). The points with 4 threads are marked with *."):
            self.assertIn(words, text)
        self.assertEqual([svg.count(f">{words}</text>") for words in ("2*", "4", "4*", "* on 2 cores, where Tern uses 2 threads")], [0, 1, 1, 1])

    def test_cliffs_are_listed(self):
        points = [{"size": n, "engines": {"tern": timed(10 * n)}} for n in (1, 2)]
        series = [{"model": "small", "axis": axis, "threads": 1, "points": points, "cliffs": [2]} for axis in ("batch", "length")]
        (self.docs / "growth.json").write_text(json.dumps({**MEASURED, "series": series}))
        self.assertEqual(self.report("--growth", self.docs / "growth.json").returncode, 0)
        self.assertIn("Tern's step is clearly larger than the step of every peer at these sizes: small at batch 2, small at length 2.",
                      (self.docs / "performance.md").read_text())

    def test_threads_measured_by_themselves_take_their_place(self):
        row = {"model": "alone", "threads": 2, "flops": 1e9, "peak_gflops": 100, "peak_gflops_threads": 200, "single": timed(10.0),
               "engines": {"tern": timed(5.5)}}
        alone = {**MEASURED, "peers": [], "rows": [row], "rounds": 4, "summaries": {"2": MEASURED["summaries"]["1"]}}
        (self.docs / "performance.md").write_text(MORE)
        (self.docs / "threads.json").write_text(json.dumps(alone))
        self.assertEqual(self.report("--fp32", self.docs / "new.json", "--threads", self.docs / "threads.json").returncode, 0)
        text = (self.docs / "performance.md").read_text()
        self.assertIn("<!-- fp32 threads -->\nTern alone. 4 rounds of 1.0 s for each engine.\n\n| model |", text)
        self.assertIn("| alone | 10.00 | 5.50 | 1.82 |", text)

    def test_where_the_time_goes_nearest_to_the_peer_first(self):
        def row(model, ort, kernel):
            return {"model": model, "threads": 1, "engines": {"tern": timed(1.0), "ort": timed(ort)}, "spent": [{"kernel": kernel, "share": 0.75, "percent_of_roof": 90}]}
        text = self.told(rows=[row("far", 3.0, "cpu.a.f32"), row("near", 1.1, "cpu.b")])
        self.assertIn("| near | 1.10 | b 75 % at 90 |\n| far | 3.00 | a 75 % at 90 |\n", text)

    def test_threads_stand_beside_the_loop(self):
        def row(model, single, several):
            return {"model": model, "threads": 2, "flops": 1e9, "peak_gflops": 100, "peak_gflops_threads": 190, "single": timed(single),
                    "read_gb_per_s": 10, "read_gb_per_s_threads": 14, "waiting": 0.21 if model == "less" else 0,
                    "engines": {"tern": timed(several), "ort": timed(9.0)}}
        rows = [row("full", 10.0, 5.0), row("less", 12.0, 8.0), row("bound by memory", 50.0, 40.0)]
        text = self.told(rows=rows, summaries={"2": MEASURED["summaries"]["1"]})
        for words in ("| full | 10.00 | 5.00 | 2.00 | 1.90 | 1.40 | 0 | 1.90 | 1 | yes |",
                      "| less | 12.00 | 8.00 | 1.50 | 1.90 | 1.40 | 21 | 1.77 | 1 | yes |",
                      "| bound by memory | 50.00 | 40.00 | 1.25 | 1.90 | 1.40 | 0 | 1.90 | 1 |  |",
                      "Of 2 compute-bound models 1 are at least 1.8 times as fast on 2 threads; 1 of 2 reach 90 % of what is permitted; "
                      "the geometric mean is 1.73, that of the loop 1.90."):
            self.assertIn(words, text)
        self.assertIn("<!-- fp32 threads -->\nNot measured yet.\n", self.told())

    def test_what_is_stored_is_kept_and_checked(self):
        self.assertEqual(self.report("--check").returncode, 1)
        self.report("--fp32", self.docs / "new.json")
        self.assertEqual(self.report("--check").returncode, 0)
        before = (self.docs / "performance.md").read_text()
        self.report()
        self.assertEqual((self.docs / "performance.md").read_text(), before)
        (self.docs / "performance.md").write_text(before.replace("2.00", "1.00"))
        done = self.report("--check")
        self.assertEqual((done.returncode, done.stdout), (1, "performance.md: out of date\n"))

    def test_this_checkout_is_up_to_date(self):
        done = self.report("--check", docs=ROOT / "docs/reports")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
