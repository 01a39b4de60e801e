"""Modules of scripts/run_tests: child processes, counts of results, the table of suites."""
