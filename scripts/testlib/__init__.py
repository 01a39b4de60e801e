"""The pieces of scripts/run_tests: running children, counting results, the table of suites."""
