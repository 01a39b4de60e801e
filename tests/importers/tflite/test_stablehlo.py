"""Operators of StableHLO. LiteRT has kernels for few of them, so that most are compared with numpy."""

import unittest

import numpy as np
from op_case import OpCase
from run_model import run_model
from writer import Graph, Operator, Writer, const, options, single
from writer import Tensor as T


class Stablehlo(OpCase):
    def numpy(self, code, inputs, output, function, opts=None, graphs=(), feeds=None):
        op = Operator(code, inputs, [output], opts)
        fed = [t for t in inputs if t.data is None]
        rng = np.random.default_rng(0)
        arrays = feeds or [t.random(rng) for t in fed]
        model = self.path(Writer([Graph([op], fed, [output]), *graphs]).bytes() if graphs else single(op))
        got = list(run_model(model, {f"t{i}": a for i, a in enumerate(arrays)}).values())[0]
        want = np.asarray(function(*arrays))
        self.assertEqual(got.shape, want.shape)
        np.testing.assert_allclose(got, want.astype(got.dtype), rtol=1e-4, atol=1e-5)

    def test_functions(self):
        x = T([3, 4], low=0.1, high=3)
        for code, function in (("LOGISTIC", lambda a: 1 / (1 + np.exp(-a))), ("ABS", np.abs), ("COSINE", np.cos), ("EXPONENTIAL", np.exp), ("FLOOR", np.floor),
                               ("LOG", np.log), ("NEGATE", np.negative), ("TANH", np.tanh), ("RSQRT", lambda a: 1 / np.sqrt(a)), ("CBRT", np.cbrt)):
            self.numpy(f"STABLEHLO_{code}", [x], T([3, 4]), function)
        self.numpy("STABLEHLO_CBRT", [T([3, 4])], T([3, 4]), np.cbrt)

    def test_arithmetic(self):
        for code, function in (("ADD", np.add), ("SUBTRACT", np.subtract), ("MULTIPLY", np.multiply), ("DIVIDE", np.divide), ("MAXIMUM", np.maximum),
                               ("MINIMUM", np.minimum), ("POWER", np.power), ("REMAINDER", np.fmod)):
            self.numpy(f"STABLEHLO_{code}", [T([3, 4], low=0.3), T([3, 4], low=0.3)], T([3, 4]), function)
        self.numpy("STABLEHLO_REMAINDER", [T([30], "int32"), T([30], "int32", low=1)], T([30], "int32"), np.fmod)
        for code, function in (("AND", np.bitwise_and), ("OR", np.bitwise_or)):
            self.numpy(f"STABLEHLO_{code}", [T([9], "int32"), T([9], "int32")], T([9], "int32"), function)
            self.numpy(f"STABLEHLO_{code}", [T([9], "bool"), T([9], "bool")], T([9], "bool"), function)
        self.numpy("STABLEHLO_SHIFT_LEFT", [T([9], "int32", low=0), T([9], "int32", low=0, high=4)], T([9], "int32"), np.left_shift)
        self.numpy("STABLEHLO_CLAMP", [const(-1, "float32"), T([9]), const(1, "float32")], T([9]), lambda a: np.clip(a, -1, 1))

    def test_against_litert(self):
        for code in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
            self.check(f"STABLEHLO_{code}", [T([3, 4]), T([3, 4])], [T([3, 4])])
        self.check("STABLEHLO_PAD", [T([2, 3]), const(0.5, "float32")], [T([4, 4])],
                   options("StablehloPadOptions", edgePaddingLow=[1, 0], edgePaddingHigh=[1, 1], interiorPadding=[0, 0]))
        self.check("DILATE", [T([2, 3]), const([2, 3]), const(-1, "float32")], [T([3, 7])], options("DilateOptions"))

    def test_shapes(self):
        self.numpy("STABLEHLO_TRANSPOSE", [T([2, 3, 4])], T([4, 2, 3]), lambda a: a.transpose(2, 0, 1), options("StablehloTransposeOptions", permutation=[2, 0, 1]))
        self.numpy("STABLEHLO_SELECT", [T([3, 4], "bool"), T([3, 4]), T([3, 4])], T([3, 4]), np.where)
        self.numpy("STABLEHLO_CONVERT", [T([3, 4])], T([3, 4], "int32"), lambda a: a.astype("int32"))
        self.numpy("STABLEHLO_RESHAPE", [T([3, 4])], T([2, 6]), lambda a: a.reshape(2, 6))
        self.numpy("STABLEHLO_CONCATENATE", [T([3, 4]), T([3, 2])], T([3, 6]), lambda a, b: np.concatenate([a, b], 1), options("StablehloConcatenateOptions", dimension=1))
        self.numpy("STABLEHLO_BROADCAST_IN_DIM", [T([3, 1])], T([2, 3, 4]), lambda a: np.broadcast_to(a, [2, 3, 4]),
                   options("StablehloBroadcastInDimOptions", broadcastDimensions=[1, 2]))
        self.numpy("STABLEHLO_SLICE", [T([5, 6])], T([2, 2]), lambda a: a[1:4:2, 2:6:2],
                   options("StablehloSliceOptions", startIndices=[1, 2], limitIndices=[4, 6], strides=[2, 2]))
        for direction, function in enumerate((np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less)):
            self.numpy("STABLEHLO_COMPARE", [T([20], "int32"), T([20], "int32")], T([20], "bool"), function, options("StablehloCompareOptions", comparisonDirection=direction))
        self.numpy("STABLEHLO_IOTA", [], T([2, 3], "int32"), lambda: [[0, 1, 2], [0, 1, 2]], options("StablehloIotaOptions", iotaDimension=1))
        self.numpy("STABLEHLO_DYNAMIC_SLICE", [T([4, 5]), const(3), const(1)], T([2, 3]), lambda a: a[2:4, 1:4], options("StablehloDynamicSliceOptions", sliceSizes=[2, 3]))

    def test_products(self):
        opts = options("StablehloDotGeneralOptions", lhsBatchingDimensions=[0], rhsBatchingDimensions=[0], lhsContractingDimensions=[2], rhsContractingDimensions=[1])
        self.numpy("STABLEHLO_DOT_GENERAL", [T([2, 3, 4]), T([2, 4, 5])], T([2, 3, 5]), np.matmul, opts)

    def test_reduce(self):
        for code, function in (("ADD", np.sum), ("MAXIMUM", np.max), ("MINIMUM", np.min)):
            a, b, c = T([]), T([]), T([])
            body = Graph([Operator(f"STABLEHLO_{code}", [a, b], [c])], [a, b], [c], "body")
            first = {"ADD": 0, "MAXIMUM": -1e30, "MINIMUM": 1e30}[code]
            self.numpy("STABLEHLO_REDUCE", [T([3, 4]), const(first, "float32")], T([3]), lambda x, f=function: f(x, 1),
                       options("StablehloReduceOptions", dimensions=[1], bodySubgraphIndex=1), graphs=[body])

    def test_composite(self):
        x, y, a, b = T([3]), T([3]), T([3]), T([3])
        body = Graph([Operator("EXP", [a], [b])], [a], [b], "body")
        op = Operator("STABLEHLO_COMPOSITE", [x], [y], options("StableHLOCompositeOptions", name="e", decompositionSubgraphIndex=1))
        model = self.path(Writer([Graph([op], [x], [y]), body]).bytes())
        got = list(run_model(model, {"t0": np.array([0, 1, 2], "float32")}).values())[0]
        np.testing.assert_allclose(got, np.exp([0, 1, 2]), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
