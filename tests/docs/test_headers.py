"""Tests how the reference pages are made from headers."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from sitelib import api_pages, headers  # noqa: E402

CPP = '''// A header.
//
//   Use(it);
#pragma once
#define VERSION 3
namespace a {
inline namespace v1 {
  // An enum.
  enum class Kind : int { kOne, kTwo };

  class Hidden;

  // A class. See Big::Get and `x_y`.
  class [[nodiscard]] Big {
   public:
    Big(int x) : x_(x) { Use("};"); }  // implicit
    bool operator==(const Big& other) const { return x_ == other.x_; }
    // Returns <x> of tune_ms.
    template <class T> T Get() const {
      return T{x_};  // a body
    }
    int Set(int x = 3);

    double limit = std::numeric_limits<double>::max();

   private:
    friend class Hidden;
    int x_ = 0;
  };

  struct Plain {
    int size{0};  // in bytes
  };
  int Free(const char* text = "a{b");  // 1 on failure
  using Shape = std::vector<long>;
}
}
'''


class Parse(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "a.hpp"
            path.write_text(CPP)
            cls.title, found = headers.read(path)
        cls.found = {d.name: d for d in found}

    def test_names_and_kinds(self):
        self.assertEqual([(d.name, d.kind) for d in self.found.values()],
                         [("VERSION", "macro"), ("Kind", "enum"), ("Big", "class"), ("Plain", "struct"), ("Free", "function"), ("Shape", "other")])

    def test_comments(self):
        self.assertEqual(self.title, "A header.\n\n  Use(it);")
        self.assertEqual(self.found["Big"].doc, "A class. See Big::Get and `x_y`.")
        self.assertEqual(self.found["Free"].note, "1 on failure")
        self.assertEqual(self.found["Kind"].doc, "An enum.")

    def test_members_are_the_public_ones_without_bodies(self):
        members = self.found["Big"].members
        self.assertEqual([m.text for m in members], ["Big(int x);", "bool operator==(const Big& other) const;", "template <class T> T Get() const;",
                                                     "int Set(int x = 3);", "double limit = std::numeric_limits<double>::max();"])
        self.assertEqual([m.name for m in members], ["Big", "operator==", "Get", "Set", "limit"])
        self.assertEqual([m.kind for m in members], ["function"] * 4 + ["other"])
        self.assertEqual((members[0].note, members[2].doc), ("implicit", "Returns <x> of tune_ms."))

    def test_sections_and_macros_of_c(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "a.h"
            path.write_text("""/* ---- Values ----
 * About values. */

/* Returns one. */
TERN_API int tern_one(void);
TERN_API int tern_two(int x,
                      int y); /* two */
typedef struct TernX TernX; /* opaque */
""")
            found = headers.read(path)[1]
        self.assertEqual([(d.kind, d.name, d.doc, d.note) for d in found],
                         [("section", "Values", "About values.", ""), ("function", "tern_one", "Returns one.", ""), ("function", "tern_two", "", "two"),
                          ("other", "TernX", "", "opaque")])
        self.assertEqual(found[2].text, "int tern_two(int x,\n             int y);")

    def test_a_brace_that_is_never_closed_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "never closed"):
            headers.Parser("struct A { int x;").parse()


class Render(unittest.TestCase):
    def setUp(self):
        self.header = api_pages.Header("include/tern/a.hpp", "reference/cpp/a.md", "cpp", "", headers.Parser(CPP).parse())
        self.page = api_pages.page(self.header, api_pages.Index([self.header]))

    def test_declarations_and_comments_are_there(self):
        self.assertIn("### Get, Set { #Big-Get }\n\n```cpp\ntemplate <class T> T Get() const;\nint Set(int x = 3);\n```\n\nReturns \\<x\\> of `tune_ms`.", self.page)
        self.assertIn("A class. See [`Big::Get`](#Big-Get) and `x_y`.", self.page)
        self.assertIn("struct Plain {\n  int size{0};  // in bytes\n};", self.page)
        self.assertIn('int Free(const char* text = "a{b");  // 1 on failure', self.page)
        self.assertNotIn("x_ = 0", self.page)

    def test_public_headers_are_covered(self):
        """Every function that a header declares outside a private part is on its page."""
        for uri, (path, text) in api_pages.pages(ROOT).items():
            public = re.sub(r"^ *private:.*?^  };$", "", (ROOT / path).read_text(), flags=re.S | re.M)
            names = re.findall(r"^ {0,4}(?! )(?!return|if|for)[\w:<>&*,\[\] ]+? [*&]?(\w+)\([^;{]*\)(?: const)?(?:;| \{)", public, re.M)
            self.assertEqual([name for name in names if name not in text], [], uri)


if __name__ == "__main__":
    unittest.main()
