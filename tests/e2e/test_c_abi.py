"""Tests that the C API is as recorded in tests/abi/c_api.txt, and that the comparison notices each kind of change."""

import pathlib
import shutil
import sys
import unittest

from support import TERN, CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/abi"))
import abi  # noqa: E402  the folder is not a package

LIBRARY = pathlib.Path(TERN).resolve().parents[1] / "lib/libtern.so"

POINT = """
typedef struct TernPoint {
  int32_t x;
  double y[2];
} TernPoint;
"""


class CAbi(CliTest):
    def edited(self, header, old, new):
        """Returns the items of the headers after a change of one header."""
        include = self.dir / "include"
        shutil.rmtree(include, ignore_errors=True)
        shutil.copytree(ROOT / "include", include)
        text = (include / header).read_text()
        self.assertIn(old, text)
        (include / header).write_text(text.replace(old, new, 1))
        return abi.current(include, LIBRARY)

    def problems(self, header, old, new):
        return abi.problems(*self.edited(header, old, new), abi.read_record())

    def test_nothing_recorded_has_changed(self):
        version, items = abi.current(ROOT / "include", LIBRARY)
        record = abi.read_record()
        self.assertEqual(abi.problems(version, items, record), [])
        self.assertEqual(abi.new_items(items, record), [], "record them with tests/abi/abi.py --update LIBTERN")
        self.assertGreater(len(items), 250)

    def test_a_removed_function_is_noticed(self):
        found = self.problems("tern/c/types.h", "TERN_API int64_t tern_clock_ns(void);", "")
        self.assertIn("removed, which breaks compiled programs: 'function int64_t tern_clock_ns(void)'", found)
        self.assertIn("exported, but not declared in tern/tern.h: tern_clock_ns", found)

    def test_another_parameter_is_noticed(self):
        found = self.problems("tern/c/types.h", "tern_dtype_bits(TernDType dtype)", "tern_dtype_bits(int64_t dtype)")
        self.assertEqual(found, ["changed, which breaks compiled programs: 'function size_t tern_dtype_bits(TernDType)' is now "
                                 "'function size_t tern_dtype_bits(int64_t)'"])

    def test_another_name_of_a_parameter_is_permitted(self):
        self.assertEqual(self.problems("tern/c/types.h", "tern_dtype_bits(TernDType dtype)", "tern_dtype_bits(TernDType type)"), [])

    def test_another_value_is_noticed(self):
        found = self.problems("tern/c/types.h", "TERN_F16 = 3", "TERN_F16 = 33")
        self.assertEqual(found, ["changed, which breaks compiled programs: 'constant TERN_F16 3' is now 'constant TERN_F16 33'"])

    def test_another_size_is_noticed(self):
        found = self.problems("tern/c/types.h", "typedef int32_t TernKind;", "typedef int64_t TernKind;")
        self.assertEqual(len(found), 1)
        self.assertIn("'type TernKind int64_t of 8 bytes'", found[0])

    def test_an_earlier_version_is_noticed(self):
        found = self.problems("tern/c/types.h", "#define TERN_API_VERSION 1", "#define TERN_API_VERSION 0")
        self.assertEqual(len(found), 1)
        self.assertIn("TERN_API_VERSION is 0", found[0])

    def test_additions_must_be_recorded(self):
        version, items = self.edited("tern/tern.h", "/* ---- Predictors", POINT + "TERN_API void tern_new(const char* name);\n/* ---- Predictors")
        record = abi.read_record()
        self.assertEqual(abi.problems(version, items, record), ["declared, but not exported by the library: tern_new"])
        self.assertEqual(abi.new_items(items, record), [
            "field TernPoint.x at 0 with 4 bytes: int32_t x", "field TernPoint.y at 8 with 16 bytes: double y[2]",
            "function void tern_new(const char*)", "type TernPoint struct of 24 bytes"])

    def test_an_update_keeps_the_version_of_earlier_items(self):
        path = self.dir / "record.txt"
        abi.write_record(2, ["constant A 1", "constant B 2"], {"constant A 1": 1}, path)
        self.assertEqual(abi.read_record(path), {"constant A 1": 1, "constant B 2": 2})


if __name__ == "__main__":
    unittest.main()
