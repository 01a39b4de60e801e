"""The document of figures: what it says comes from the measurements, and the one in this checkout is up to date."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPORT = ROOT / "bench" / "report.py"
TEXT = "before\n<!-- fp32 summary -->\nold\n<!-- end -->\nbetween\n<!-- fp32 models -->\n<!-- end -->\n<!-- growth -->\n<!-- end -->\nafter\n"


def timed(ms):
    return {"status": "ok", "ms": ms, "spread": 0.0, "error": 0.0, "peak_mb": 1.0, "load_ms": 2.0, "first_run_ms": 3.0}


MEASURED = {"machine": {"cpu": "made up", "isa": "none", "cores": 1}, "versions": {"ort": "1"}, "precision": "fp32", "peers": ["ort"],
            "clock": "wall", "rounds": 1, "seconds": 1.0,
            "rows": [{"model": "small", "threads": 1, "percent_of_peak": 50.4, "engines": {"tern": timed(2.0), "ort": timed(3.00000001)}}],
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
        for words in ("before\n", "\nbetween\n", "\nafter\n", "| small | 2.00 | 3.00 | 1.50 | 50 | 1 / 1 | 5 / 5 |",
                      "| 1 | 1.50 | 1.50 | 1.50 | 1 of 1 |", "Not measured yet."):
            self.assertIn(words, text)
        self.assertTrue((self.docs / "performance_fp32.svg").read_text().startswith("<svg"))

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
        done = self.report("--check", docs=ROOT / "docs")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
