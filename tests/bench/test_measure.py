"""Tests how the benchmark runs its processes. fake_tern.py replaces tern, and there is no peer."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[1] / "bench"
sys.path.insert(0, str(BENCH))

import empty  # noqa: E402

ENTRY = {"file": "model.onnx", "outputs": ["y"],
         "inputs": [{"name": "x", "dtype": "float32", "dims": [2, 3], "symbols": {}, "kind": "normal", "high": 0}]}


class Compare(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tern_bench_")
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)
        empty.save(self.dir / ENTRY["file"])
        (self.dir / "index.json").write_text(json.dumps({"small": ENTRY, "small.dynamic": ENTRY}))
        # The fake tern must run with this interpreter, because it needs numpy, which python3 in PATH may not have.
        self.tern = self.dir / "tern"
        self.tern.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "fake_tern.py"}" "$@"\n')
        self.tern.chmod(0o755)

    def compare(self, *options, **env):
        return self.bench("compare", *options, **env)

    def growth(self, *options, **env):
        return self.bench("growth", *options, **env)

    def bench(self, program, *options, **env):
        command = [sys.executable, BENCH / program, "--cache", self.dir, "--tern", self.tern, "--rounds", "2", "--peers", "none", *options]
        return subprocess.run(list(map(str, command)), env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False)

    def test_json_holds_what_was_measured(self):
        out, svg = self.dir / "out.json", self.dir / "out.svg"
        done = self.compare("--threads", "1,2", "--json", out, "--svg", svg, FAKE_MS="3 2 4")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(out.read_text())
        rows, machine = report["rows"], report["machine"]
        self.assertEqual((machine["cpu"], machine["simd"], machine["bf16_products"]), ("made up", "made_up", True))
        self.assertEqual([(row["model"], row["threads"]) for row in rows], [("small", 1), ("small", 2)])
        tern = rows[0]["engines"]["tern"]
        self.assertEqual((tern["status"], tern["ms"], tern["median_ms"], tern["runs"], tern["peak_mb"]), ("ok", 2, 3, 6, 5))
        self.assertAlmostEqual(rows[0]["percent_of_peak"], 0.5)
        self.assertEqual(rows[0]["spent"], [{"kernel": "cpu.twice.f32", "share": 0.75, "percent_of_roof": 50},
                                            {"kernel": "cpu.read.f32", "share": 0.25, "percent_of_roof": 50}])
        self.assertIn("small", done.stdout)
        self.assertEqual(report["summaries"]["1"]["call_ms"], {"tern": 2})
        self.assertIn("one call of an empty model, µs: tern 2000.0\n", done.stdout)
        self.assertTrue(svg.read_text().startswith("<svg"))

    def test_one_thread_takes_its_turns_beside_several(self):
        out = self.dir / "out.json"
        done = self.compare("--threads", "1,2", "--json", out, FAKE_MS="3 2 4", FAKE_SINGLE_MS="5 3 6")
        self.assertEqual(done.returncode, 0, done.stderr)
        one, two = json.loads(out.read_text())["rows"]
        self.assertNotIn("single", one)
        self.assertEqual((two["single"]["ms"], two["engines"]["tern"]["ms"], list(two["engines"])), (3, 2, ["tern"]))
        self.assertEqual((two["waiting"], "spent" in two), (0.25, False))
        self.assertEqual((two["peak_gflops"], two["peak_gflops_threads"]), (100, 190))
        self.assertEqual((two["read_gb_per_s"], two["read_gb_per_s_threads"]), (10, 12))
        heads, cells = (next(l for l in done.stdout.splitlines()[::-1] if l.startswith(word)) for word in ("model", "small"))
        self.assertIn("/1 thread", heads)
        self.assertRegex(cells, r"1\.50 +1\.90")

    def test_threads_beyond_the_cores_do_not_lower_the_share_of_the_peak(self):
        out = self.dir / "out.json"
        done = self.compare("--threads", "2,9", "--json", out, FAKE_MS="3 2 4")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(out.read_text())["rows"]
        self.assertEqual([(row["threads"], row["threads_used"]) for row in rows], [(2, 2), (9, 2)])
        for row in rows:
            self.assertAlmostEqual(row["percent_of_peak"], 0.25)
        self.assertIn("fp32, 2 threads, ms\n", done.stdout)
        self.assertIn("fp32, 9 threads (on 2 cores, where Tern uses 2), ms\n", done.stdout)

    def test_processor_time_where_asked_for(self):
        out = self.dir / "out.json"
        self.assertEqual(self.compare("--threads", "1", "--clock", "processor", "--json", out, FAKE_MS="3 2 4").returncode, 0)
        self.assertEqual(json.loads(out.read_text())["rows"][0]["engines"]["tern"]["ms"], 1)

    def test_another_tern_is_a_peer(self):
        out = self.dir / "out.json"
        done = self.compare("--threads", "1", "--base", self.tern, "--json", out, FAKE_MS="3 2 4")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(out.read_text())
        self.assertEqual(set(found["rows"][0]["engines"]), {"tern", "base"})
        self.assertEqual(found["summaries"]["1"]["peers"], {"base": 1})

    def test_an_engine_that_fails_is_named_with_its_reason(self):
        done = self.compare("--threads", "1", FAKE_DIES="1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("    tern failed: tern: made up to fail\n", done.stdout)
        self.assertIn("TERN IS WRONG: small, fp32, 1 threads: tern failed: tern: made up to fail\n", done.stdout)

    def rounds(self, times):
        """Runs the benchmark with two requested rounds. Returns the best time, the spread, and the numbers of rounds
        and runs. `times` is FAKE_MS; its first round is the warm-up."""
        out = self.dir / "out.json"
        done = self.compare("--threads", "1", "--json", out, FAKE_MS=times)
        self.assertEqual(done.returncode, 0, done.stderr)
        tern = json.loads(out.read_text())["rows"][0]["engines"]["tern"]
        return tern["ms"], round(tern["spread"], 3), tern["rounds"], tern["runs"]

    def test_more_rounds_where_they_disagree(self):
        self.assertEqual(self.rounds("9; 2; 2.1; 1"), (2, 0.025, 2, 2))
        self.assertEqual(self.rounds("9; 3; 2; 2; 2; 1"), (2, 0, 4, 4))
        self.assertEqual(self.rounds("9; 3; 2; 6; 4; 5; 7; 1"), (2, 1.25, 6, 6))

    def started(self, *starts):
        """Runs the benchmark. Returns Tern's results and the printed text. Each argument is the load time of one start
        in ms, or the error message with which this start fails."""
        out, file = self.dir / "out.json", self.dir / "starts"
        file.write_text("\n".join(starts))
        done = self.compare("--threads", "1", "--json", out, FAKE_MS="3", FAKE_STARTS=str(file))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text())["rows"][0]["engines"]["tern"], done.stdout

    def test_the_better_of_two_starts_counts(self):
        self.assertEqual(self.started("7", "5")[0]["load_ms"], 5)
        self.assertEqual(self.started("5", "7")[0]["load_ms"], 5)

    def test_a_second_start_that_fails_is_named_and_takes_nothing_away(self):
        found, printed = self.started("7", "lost")
        self.assertEqual((found["status"], found["ms"], found["load_ms"]), ("ok", 3, 7))
        self.assertIn("tern's second start failed: tern: lost", printed)

    def in_bf16(self, **env):
        """Runs the benchmark in bf16. Returns Tern's result, the exit status, and the printed text."""
        out = self.dir / "out.json"
        done = self.compare("--threads", "1", "--precision", "bf16", "--json", out, FAKE_MS="1", **env)
        return json.loads(out.read_text())["rows"][0]["engines"]["tern"], done.returncode, done.stdout + done.stderr

    def test_bf16_is_compared_with_fp32(self):
        found, code, printed = self.in_bf16(FAKE_ROUGH="1")
        self.assertEqual((found["status"], found["error"], code), ("wrong", 0.5, 1), printed)
        self.assertRegex(printed, r"TERN IS WRONG: small, bf16, 1 threads: tern wrong: differs from the first engine in fp32 by 0.5 of its largest "
                                  r"output; at most 0\.0\d+ is accepted\n")

    def test_bf16_may_differ_by_a_few_times_what_rounding_does(self):
        found, code, printed = self.in_bf16()
        self.assertEqual((found["status"], found["error"], code), ("ok", 0, 0), printed)
        self.assertTrue(2**-6 < found["bound"] <= 2**-6 + 3 * 2**-8, found)  # rounding changes an input by at most 2^-8 of its value
        (_, kept), = json.loads((self.dir / "rounding.json").read_text()).values()
        self.assertAlmostEqual(found["bound"], 3 * kept + 2**-6)

    def test_where_rounding_moves_everything_nothing_is_told(self):
        found, code, printed = self.in_bf16(FAKE_CHAOS="1")
        self.assertEqual((found["status"], code), ("inconclusive", 0), printed)
        self.assertIn("tern inconclusive: rounding weights and inputs alone changes the outputs by 0.5", printed)

    def test_what_rounding_does_is_found_once_for_each_network_and_engine(self):
        self.in_bf16()
        self.assertEqual(self.in_bf16(FAKE_CHAOS="1")[0]["status"], "ok")
        os.utime(self.dir / ENTRY["file"], (1, 1))  # changes the modification time of the file, not its bytes
        self.assertEqual(self.in_bf16(FAKE_CHAOS="1")[0]["status"], "ok")
        os.utime(self.tern, (1, 1))  # a binary with another modification time counts as another build
        self.assertEqual(self.in_bf16(FAKE_CHAOS="1")[0]["status"], "inconclusive")
        self.assertEqual(self.in_bf16()[0]["status"], "inconclusive")  # from the cache
        model = onnx.load(self.dir / ENTRY["file"])
        model.doc_string = "another"
        onnx.save(model, self.dir / ENTRY["file"])
        self.assertEqual(self.in_bf16()[0]["status"], "ok")

    def test_growth_tells_how_long_it_took(self):
        (self.dir / "index.json").write_text(json.dumps({"tinybert": ENTRY}))
        out = self.dir / "out.json"
        done = self.growth("--series", "tinybert threads", "--json", out, FAKE_MS="3")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(out.read_text())
        self.assertEqual([point["size"] for point in report["series"][0]["points"]], [1, 2, 4])
        self.assertGreaterEqual(report["took_seconds"], 0)
        self.assertRegex(done.stdout, r"\n +2 [^*]*\n +4\* .*\n\* on 2 cores, where Tern uses 2 threads\n")

    def test_mistakes_are_refused(self):
        for options, words in ((("--models", "nothing"), "no model"), (("--peers", "ort,tvm"), "tvm"), (("--tern", "nowhere"), "nowhere"),
                               (("--threads", "0"), "--threads"), (("--rounds", "0"), "--rounds"),
                               (("--threads", "2", "--clock", "processor"), "--clock processor")):
            done = self.compare(*options, FAKE_MS="1")
            self.assertNotEqual(done.returncode, 0, options)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
