"""Tests that docs/reference/http.md lists all routes of the HTTP server. routes_test.cc compares the table with the code."""

import unittest

import http_routes


class Routes(unittest.TestCase):
    def test_the_list_is_up_to_date(self):
        self.assertEqual(http_routes.page(), (http_routes.HTTP.parents[2] / "docs/reference/http.md").read_text(),
                         "run: python tests/e2e/http_routes.py > docs/reference/http.md")

    def test_the_list_is_whole(self):
        self.assertEqual({kind for kind, *_ in http_routes.rows()}, http_routes.kinds(), "src/server/http/routes.inc lacks these routes of route.h")


if __name__ == "__main__":
    unittest.main()
