"""Tests bench/fit_costs.py: it finds the rates from which the samples were generated, and does not change rates for
which there are no samples."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import fit_costs  # noqa: E402

TABLE = ROOT / "src" / "runtime" / "cost" / "cost_rates.inc"


def work(algorithm, products=0.0, weights=0.0, moved=0.0, transformed=0.0):
    return {"algorithm": algorithm, "products": products, "weights": weights, "moved": moved, "transformed": transformed}


def measured(works, rates):
    """Returns samples in the format that `fit_costs.py measure` writes. `rates` are the rates of each algorithm."""
    samples = []
    for i, w in enumerate(works):
        product, weight, moved, transformed, start = rates[w["algorithm"]]
        far = 2 if w["weights"] > 16 << 20 else 1
        ns = max(w["products"] * product, far * w["weights"] * weight) + w["moved"] * moved + w["transformed"] * transformed + start
        samples.append({"isa": "avx512", "model": "m", "node": f"n{i}", "kernel": w["algorithm"], "us": ns / 1e3, "work": [w]})
    return samples


class Fit(unittest.TestCase):
    def fit(self, samples):
        """Returns the table that `fit_costs.py fit` prints."""
        with tempfile.TemporaryDirectory(prefix="tern_fit_") as folder:
            file = pathlib.Path(folder) / "samples"
            file.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
            done = subprocess.run([sys.executable, ROOT / "bench" / "fit_costs.py", "fit", file], capture_output=True, text=True, timeout=60,
                                  check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_without_measurements_the_table_is_what_it_was(self):
        self.assertEqual(self.fit([]), TABLE.read_text())

    def test_rates_that_made_the_times_are_found(self):
        rates = {"direct": [0.02, 0.018, 0.005, 0.2, 400.0], "pointwise": [0.021, 0.018, 0.009, 0.0, 500.0]}
        draw = np.random.default_rng(1)
        works = [work(name, products=10 ** draw.uniform(4, 8), weights=10 ** draw.uniform(3, 5), moved=10 ** draw.uniform(3, 6),
                      transformed=10 ** draw.uniform(2, 5) if name == "direct" else 0.0) for name in rates for _ in range(60)]
        fitted = self.fit(measured(works, rates))
        found, before = fit_costs.rates_in(fitted), fit_costs.rates_in(TABLE.read_text())
        for name, wanted in rates.items():
            np.testing.assert_allclose(found.pop((name, "avx512")), wanted, rtol=0.02, atol=1e-4, err_msg=name)
            del before[name, "avx512"]
        self.assertEqual(found, before)

    def test_weights_that_no_cache_holds_take_longer(self):
        table = {("panels", "avx512"): [0.0, 1.0, 0.0, 0.0, 0.0]}
        for size, counted in ((16 << 20, 16 << 20), (17 << 20, 34 << 20)):
            (_, counts, _), = fit_costs.parts({"isa": "avx512", "work": [work("panels", weights=size)]}, table)
            self.assertEqual(counts[1], counted)


if __name__ == "__main__":
    unittest.main()
