"""Tests tern run with CSV inputs: each line is a row, no cell is lost, and a header names the columns."""

import numpy as np
from onnx import TensorProto, helper

from support import FLOAT, INT64, CliTest, make_model, run

STRING = TensorProto.STRING


def identity(dtype, dims):
    return make_model([helper.make_node("Identity", ["x"], ["y"])], {"x": (dtype, dims)}, {"y": (dtype, dims)})


def data_frame():
    """Returns a model with one input per column, as scikit-learn's converter produces. It computes y = age + income and
    z = name."""
    nodes = [helper.make_node("Add", ["age", "net income"], ["y"]), helper.make_node("Identity", ["name"], ["z"])]
    return make_model(nodes, {"age": (FLOAT, [None, 1]), "net income": (FLOAT, [None, 1]), "name": (STRING, [None, 1])},
                      {"y": (FLOAT, [None, 1]), "z": (STRING, [None, 1])})


class Tables(CliTest):
    def csv(self, text, name="x.csv"):
        path = self.dir / name
        path.write_text(text)
        return path

    def given(self, dtype, dims, text):
        """Writes `text` to a CSV file and returns the values that an input of this type and shape reads from it."""
        done = self.json("run", self.save(identity(dtype, dims)), "--input", f"x={self.csv(text)}", "--json")
        return done["outputs"]["y"]["data"]

    def refuse(self, dtype, dims, text, says):
        self.refused("run", self.save(identity(dtype, dims)), "--input", self.csv(text), says=says)

    def test_empty_cells_are_nan(self):
        rows = self.given(FLOAT, ["N", 4], "5.1,,1.4,0.2\n4.9,3.0,1.4,0.2\n4.7,3.2,,0.2\n4.6,3.1,1.5,\n")
        self.assertEqual(np.shape(rows), (4, 4))
        self.assertEqual([[r.index("nan") if "nan" in r else None] for r in rows], [[1], [None], [2], [3]])

    def test_an_empty_integer_is_an_error(self):
        self.refuse(INT64, ["N", 2], "a,b\n1,2\n3,\n", ["row 2", "line 3", "column 2 ('b')", "empty", "i64", "x.csv"])

    def test_ragged_rows(self):
        self.refuse(FLOAT, ["N", 4], "1,2,3,4\n5,6,7\n", ["row 2", "has 3 cells", "has 4", "x.csv"])
        self.refuse(FLOAT, ["N", 2], "1,2\n3,4,\n", ["row 2", "has 3 cells", "has 2"])

    def test_a_header(self):
        self.assertEqual(self.given(FLOAT, ["N", 2], "width,height\n1,2\n3,4\n"), [[1, 2], [3, 4]])
        self.refuse(FLOAT, ["N", 2], "width,height\n1,two\n", ["'two'", "column 2 ('height')"])

    def test_a_header_is_noted(self):
        table = self.csv("width,height\n1,2\n")
        done = run("run", self.save(identity(FLOAT, ["N", 2])), "--input", f"x={table}", "--json")
        self.assertIn(f"note: took row 1 of '{table}' as a header, because it has no number: width, height", done.stderr)
        done = run("run", self.save(identity(FLOAT, ["N", 2])), "--input", f"x={self.csv('1,2')}", "--json")
        self.assertEqual(done.stderr, "")

    def test_a_row_of_missing_numbers_is_not_a_header(self):
        self.refuse(FLOAT, ["N", 4], "NA,NA,NA,NA\n1,2,3,4\n", ["row 1 (line 1), column 1", "'NA'", "x.csv"])

    def test_rows_stay_rows(self):
        self.refuse(FLOAT, ["N", 4], "1\n2\n3\n4\n", ["f32[N,4]", "f32[4,1]"])
        self.assertEqual(self.given(FLOAT, ["N"], "1\n2\n3\n"), [1, 2, 3])
        self.assertEqual(self.given(FLOAT, ["N"], "1,2,3\n"), [1, 2, 3])
        self.refuse(FLOAT, ["N"], "1,2\n3,4\n", ["f32[2,2]"])
        self.assertEqual(self.given(FLOAT, ["N", 2, 2], "1,2,3,4\n5,6,7,8\n"), [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
        self.assertEqual(self.given(FLOAT, [1, 1, 2, 2], "1,2\n3,4\n"), [[[[1, 2], [3, 4]]]])

    def test_strings_keep_their_columns(self):
        self.assertEqual(self.given(STRING, ["N", 2], 'a,"b, c"\n"say ""so""",\n'), [["a", "b, c"], ['say "so"', ""]])
        self.assertEqual(self.given(STRING, ["N"], "a\n\nb\n"), ["a", "", "b"])
        self.refuse(STRING, ["N", 2], "a,b\nc\n", ["row 2", "has 1 cell", "has 2"])

    def test_one_input_a_column(self):
        path = self.save(data_frame())
        table = self.csv('name,age,extra,net income\nAnn,30,0,5.5\n"Bo, Jr",40,0,\n')
        done = self.ok("run", path, "--input", table, "--json")
        self.assertIn("'extra'", done.stderr)
        outputs = self.json("run", path, "--input", table, "--json")["outputs"]
        self.assertEqual(outputs["y"]["data"], [[35.5], ["nan"]])
        self.assertEqual(outputs["z"]["data"], [["Ann"], ["Bo, Jr"]])

    def test_one_input_a_column_needs_names(self):
        path = self.save(data_frame())
        self.refused("run", path, "--input", self.csv("1,2,3\n"), says=["the header", "age, net income, name", "x.csv"])
        self.refused("run", path, "--input", self.csv("age,name\n1,a\n"), says=["'net income'", "was not given"])
        self.refused("run", path, "--input", self.csv("age,net income,name\nold,2,a\n"),
                     says=["'age'", "row 1", "line 2", "'old'"])
        wide = make_model([helper.make_node("Add", ["a", "b"], ["y"])], {"a": (FLOAT, ["N", 3]), "b": (FLOAT, ["N", 1])},
                          {"y": (FLOAT, ["N", 3])})
        self.refused("run", self.save(wide), "--input", self.csv("a,b\n1,2\n"), says=["'a'", "f32[N,3]", "a column"])

    def test_plain_text_loses_nothing_either(self):
        path = self.csv("1,,2\n", "x.txt")
        self.refused("run", self.save(identity(FLOAT, ["N"])), "--input", path, says=["line 1", "comma", "x.txt"])
