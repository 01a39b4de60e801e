"""Control flow, variables, tables, random numbers and custom operators, against LiteRT."""

import unittest

import flatbuffers.flexbuffers as flex
import numpy as np
from lite import interpreter, names_of, run_lite
from op_case import OpCase
from run_model import TernError, run_model, tern
from writer import Graph, Operator, Writer, const, options, single
from writer import Tensor as T


class Control(OpCase):
    def run_graphs(self, graphs, arrays, **more):
        self.compare(self.path(Writer(graphs).bytes()), arrays, **more)

    def test_if(self):
        def branch(code, name):
            x, y, z = T([2, 3]), T([2, 3]), T([2, 3])
            return Graph([Operator(code, [x, y], [z], options(name))], [x, y], [z], code)

        c, x, y, z = T([], "bool"), T([2, 3]), T([2, 3]), T([2, 3])
        op = Operator("IF", [c, x, y], [z], options("IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=2))
        graphs = [Graph([op], [c, x, y], [z]), branch("ADD", "AddOptions"), branch("MUL", "MulOptions")]
        rng = np.random.default_rng(0)
        for value in (True, False):
            self.run_graphs(graphs, [np.array(value), x.random(rng), y.random(rng)])

    def test_while(self):
        i, x = T([], "int32"), T([3])
        i2, x2, less = T([], "int32"), T([3]), T([], "bool")
        condition = Graph([Operator("LESS", [i2, const(5)], [less])], [i2, x2], [less], "cond")
        i3, x3, i4, x4 = T([], "int32"), T([3]), T([], "int32"), T([3])
        body = Graph([Operator("ADD", [i3, const(1)], [i4], options("AddOptions")), Operator("MUL", [x3, const(1.5, "float32")], [x4], options("MulOptions"))],
                     [i3, x3], [i4, x4], "body")
        ri, rx = T([], "int32"), T([3])
        op = Operator("WHILE", [i, x], [ri, rx], options("WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2))
        for start in (0, 3, 9):
            self.run_graphs([Graph([op], [i, x], [ri, rx]), condition, body], [np.array(start, "int32"), np.arange(3, dtype="float32")])

    def variable(self, name):
        handle = T([], "resource")
        return handle, Operator("VAR_HANDLE", [], [handle], options("VarHandleOptions", container="", sharedName=name))

    def counter(self, **more):
        """A model that adds its input to a variable, which starts as (10, 20), and returns the sum. `more` describes the variable's tensors."""
        x, before, after = T([2]), T([2], **more), T([2], **more)
        handle, make = self.variable("sum")
        again, make_again = self.variable("sum")
        main = Graph([Operator("CALL_ONCE", [], [], options("CallOnceOptions", initSubgraphIndex=1)), make,
                      Operator("READ_VARIABLE", [handle], [before]), Operator("ADD", [before, x], [after], options("AddOptions")),
                      Operator("ASSIGN_VARIABLE", [handle, after], [])], [x], [after])
        init = Graph([make_again, Operator("ASSIGN_VARIABLE", [again, const([10, 20], "float32")], [])], [], [], "init")
        return Writer([main, init]).bytes()

    def test_variables(self):
        self.compare(self.path(self.counter()), [np.array([1, 2], "float32")])

    def test_variables_of_unknown_size(self):
        model = self.path(self.counter(signature=[-1]))
        x = np.array([1, 2], "float32")
        self.compare(model, [x])
        standard = model.with_suffix(".onnx")  # the states are inputs and outputs there
        tern("convert", model, "-o", standard)
        states = {"variable sum": np.array([5, 6], "float32"), "variables_are_initialized": np.array(1, "uint8")}
        got = run_model(standard, {names_of(interpreter(model))[0][0]: x, **states})
        self.assertEqual(got["variable sum after the run"].tolist(), [6, 8])

    def test_variables_that_do_not_change_are_constants(self):
        x, value, y = T([2]), T([2]), T([2])
        handle, make = self.variable("weights")
        again, make_again = self.variable("weights")
        main = Graph([Operator("CALL_ONCE", [], [], options("CallOnceOptions", initSubgraphIndex=1)), make, Operator("READ_VARIABLE", [handle], [value]),
                      Operator("MUL", [value, x], [y], options("MulOptions"))], [x], [y])
        init = Graph([make_again, Operator("ASSIGN_VARIABLE", [again, const([3, 4], "float32")], [])], [], [], "init")
        model = self.path(Writer([main, init]).bytes())
        self.compare(model, [np.array([1, 2], "float32")])
        self.assertNotIn("state", tern("inspect", model))

    def test_tables(self):
        table, table2 = T([], "resource"), T([], "resource")
        make = options("HashtableOptions", tableId=7, keyDtype=4, valueDtype=5)
        keys, found, size = T([3], "int64"), T([3], "string"), T([1], "int64")
        main = Graph([Operator("CALL_ONCE", [], [], options("CallOnceOptions", initSubgraphIndex=1)), Operator("HASHTABLE", [], [table], make),
                      Operator("HASHTABLE_FIND", [table, keys, T([1], "string", ["none"])], [found]), Operator("HASHTABLE_SIZE", [table], [size])],
                     [keys], [found, size])
        init = Graph([Operator("HASHTABLE", [], [table2], make),
                      Operator("HASHTABLE_IMPORT", [table2, const([1, 5, 9], "int64"), T([3], "string", ["one", "five", "nine"])], [])], [], [], "init")
        model = self.path(Writer([main, init]).bytes())
        array = np.array([5, 2, 9], "int64")
        got = run_model(model, {"t1": array} if False else {names_of(interpreter(model))[0][0]: array})
        values = list(got.values())
        self.assertEqual([str(s) for s in values[0]], ["five", "none", "nine"])
        self.assertEqual(values[1].tolist(), [3])

    def test_random(self):
        for code, mean, deviation in (("RANDOM_UNIFORM", 0.5, 12 ** -0.5), ("RANDOM_STANDARD_NORMAL", 0, 1)):
            model = self.path(single(Operator(code, [const([20000])], [T([20000])], options("RandomOptions", seed=1, seed2=2))))
            got = list(run_model(model, {}).values())[0]
            self.assertAlmostEqual(got.mean(), mean, delta=0.03)
            self.assertAlmostEqual(got.std(), deviation, delta=0.03)
        model = self.path(single(Operator("MULTINOMIAL", [T([2, 3]), const(20000)], [T([2, 20000], "int64")], options("RandomOptions", seed=1, seed2=2))))
        p = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]], "float32")
        got = list(run_model(model, {"t0": np.log(p)}).values())[0]
        for row in range(2):
            np.testing.assert_allclose(np.bincount(got[row], minlength=3) / 20000, p[row], atol=0.02)

    def test_complex_numbers(self):
        for code, shape in (("REAL", [4, 5]), ("IMAG", [4, 5]), ("COMPLEX_ABS", [4, 5])):
            x, c, y = T([4, 8]), T([4, 5], "complex64"), T(shape)
            ops = [Operator("RFFT2D", [x, const([4, 8])], [c]), Operator(code, [c], [y])]
            self.run_graphs([Graph(ops, [x], [y])], [x.random(np.random.default_rng(0))], atol=1e-4)

    def test_densify(self):
        x, y = const([[1, 0], [0, 2]], "float32"), T([2, 2])
        z, out = T([2, 2]), T([2, 2])
        ops = [Operator("DENSIFY", [x], [y], options("DensifyOptions")), Operator("ADD", [y, z], [out], options("AddOptions"))]
        model = self.path(Writer([Graph(ops, [z], [out])]).bytes())
        got = run_model(model, {names_of(interpreter(self.path(single(Operator("ABS", [T([2, 2])], [T([2, 2])])))))[0][0]: np.ones([2, 2], "float32")})
        self.assertEqual(list(got.values())[0].tolist(), [[2, 1], [1, 3]])

    def test_call(self):
        x, y, a, b = T([3]), T([3]), T([3]), T([3])
        main = Graph([Operator("CALL", [x], [y], options("CallOptions", subgraph=1))], [x], [y])
        inner = Graph([Operator("EXP", [a], [b])], [a], [b], "inner")
        model = self.path(Writer([main, inner]).bytes())
        got = run_model(model, {"t0": np.array([0, 1, 2], "float32")})
        np.testing.assert_allclose(list(got.values())[0], np.exp([0, 1, 2]), rtol=1e-5)

    def test_signatures(self):
        a, b, c, d = T([3], name="a"), T([3], name="b"), T([3], name=""), T([3], name="")
        first = Graph([Operator("EXP", [a], [b])], [a], [b], "first")
        second = Graph([Operator("NEG", [c], [d])], [c], [d], "second")
        signatures = [("exp", 0, {"x": a}, {"y": b}), ("neg", 1, {"u": c}, {"v": d})]
        model = self.path(Writer([first, second], signatures).bytes())
        x = np.array([0, 1, 2], "float32")
        np.testing.assert_allclose(run_model(model, {"a": x})["b"], np.exp(x), rtol=1e-5)
        np.testing.assert_allclose(run_model(model, {"u": x}, "--signature", "neg")["v"], -x)
        with self.assertRaisesRegex(TernError, "no signature 'log'; it has: exp, neg"):
            run_model(model, {"a": x}, "--signature", "log")

    def test_unsupported_operators_are_listed(self):
        x, y, z = T([3], "string"), T([3], "string"), T([3], "string")
        ops = [Operator("SKIP_GRAM", [x], [y], options("SkipGramOptions")), Operator("CUSTOM:Mine", [y], [z])]
        model = self.path(Writer([Graph(ops, [x], [z])]).bytes())
        with self.assertRaisesRegex(TernError, r"(?s)uses 2 operator.*CUSTOM:Mine x1 at operator #1.*SKIP_GRAM x1 at operator #0"):
            run_model(model, {})


class Detection(OpCase):
    def check_detection(self, regular, classes_per_box, background):
        rng = np.random.default_rng(7)
        n, classes = 40, 3
        centre, size = rng.uniform(0, 1, [n, 2]), rng.uniform(0.1, 0.3, [n, 2])
        anchors = np.concatenate([centre, size], 1).astype("float32")
        fields = {"max_detections": 10, "max_classes_per_detection": classes_per_box, "detections_per_class": 8, "use_regular_nms": regular,
                  "nms_score_threshold": 0.3, "nms_iou_threshold": 0.4, "num_classes": classes, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
        custom = bytes(flex.Dumps(fields))
        boxes, scores = T([1, n, 4]), T([1, n, classes + background])
        rows = 10 * classes_per_box
        outputs = [T([1, rows, 4]), T([1, rows]), T([1, rows]), T([1])]
        op = Operator("CUSTOM:TFLite_Detection_PostProcess", [boxes, scores, T([n, 4], "float32", anchors)], outputs, None, custom)
        model = self.path(single(op))
        arrays = [rng.standard_normal([1, n, 4]).astype("float32"), rng.permutation(n * (classes + background)).reshape(1, n, -1).astype("float32") / (n * 4)]
        lite = interpreter(model)
        want = run_lite(lite, arrays)
        inputs, names = names_of(lite)
        got = run_model(model, dict(zip(inputs, arrays)))
        count = int(want[3][0])
        self.assertGreater(count, 2)
        self.assertEqual(int(got[names[3]][0]), count)
        count *= 1 if regular else classes_per_box
        for i in range(3):
            self.assertEqual(got[names[i]].shape, want[i].shape)
            np.testing.assert_allclose(got[names[i]][0, :count], want[i][0, :count], rtol=1e-4, atol=1e-5)

    def test_fast(self):
        for background in (0, 1):
            self.check_detection(False, 1, background)
        self.check_detection(False, 2, 1)

    def test_regular(self):
        for background in (0, 1):
            self.check_detection(True, 1, background)


if __name__ == "__main__":
    unittest.main()
