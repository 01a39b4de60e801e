"""Tests the arithmetic of bench/generate.py."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import generate  # noqa: E402


class Generate(unittest.TestCase):
    def test_agreement_ends_at_the_first_other_token(self):
        self.assertEqual(generate.agreement([1, 2, 3], [1, 2, 3]), 3)
        self.assertEqual(generate.agreement([1, 2, 3], [1, 4, 3]), 1)
        self.assertEqual(generate.agreement([], []), 0)

    def test_the_rate_leaves_out_the_first_tokens(self):
        self.assertAlmostEqual(generate.rate([500, 400, 300, 10, 10]), 100)
        self.assertEqual(generate.rate([500]), 0)

    def test_time_at_a_past_is_the_median_around_it(self):
        # The prompt has one token. Token i therefore has a past of i tokens, and it takes i ms.
        spent = [float(i) for i in range(1, 201)]
        self.assertEqual(generate.at_past(spent, 1, 100), 100)
        self.assertIsNone(generate.at_past(spent, 1, 1000))

    def test_summary(self):
        ours = {"tokens": [1, 2, 3, 4, 5], "milliseconds": [90, 90, 90, 10, 10], "plans": 3,
                "read_milliseconds": [8, 8, 20]}
        theirs = {"tokens": [1, 2, 3, 4, 6], "milliseconds": [90, 90, 90, 20, 20]}
        found = generate.summary(ours, theirs, 1, bytes_read=1_000_000)
        self.assertEqual(found["same"], 4)
        self.assertAlmostEqual(found["ratio"], 2)
        self.assertAlmostEqual(found["permitted_tokens_per_second"], 125)
        self.assertAlmostEqual(found["percent_of_permitted"], 80)
        self.assertEqual(found["plans"], 3)

    def test_names_are_those_that_tern_finds(self):
        pasts, presents = generate.names(2)
        self.assertEqual(pasts[3], "past_key_values.1.value")
        self.assertEqual(presents[3], "present.1.value")


if __name__ == "__main__":
    unittest.main()
