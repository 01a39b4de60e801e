"""Elementwise operators, one test per operator."""

import numpy as np
from op_cases import C, OpTest, X, add_tests, b, f, i

RANGES = {"Acosh": (1.1, 4), "Asin": (-1, 1), "Acos": (-1, 1), "Atanh": (-0.9, 0.9), "Log": (0.1, 4), "Log1p": (-0.5, 3), "Rsqrt": (0.1, 4),
          "Sqrt": (0, 4), "Erfinv": (-0.99, 0.99), "Ndtri": (0.01, 0.99), "Inv": (0.2, 3), "Reciprocal": (0.2, 3)}
UNARY = ["Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Erfc", "Erfinv", "Exp", "Expm1", "Floor", "Inv", "Log",
         "Log1p", "Ndtri", "Reciprocal", "Rint", "Rsqrt", "Sigmoid", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"]
FEATURES = ["Elu", "LeakyRelu", "Relu", "Relu6", "Selu", "Softplus", "Softsign"]
SPECIAL = np.array([1.5, np.inf, -np.inf, np.nan, 0, -0.5], np.float32)

OPS = {op: [{"x": X(f(2, 3, low=low, high=high))}, {"x": X(f(5, low=low, high=high, dtype=np.float64))}]
       for op in UNARY for low, high in [RANGES.get(op, (-3, 3))]}
OPS |= {op: [{"features": X(f(2, 3, low=-8, high=8))}] for op in FEATURES}
OPS["LeakyRelu"] += [{"features": X(f(4)), "alpha": 0.35}]
OPS["Relu"] += [{"features": X(i(4))}]
OPS["Log1p"] += [{"x": X(np.array([1e-8, -1e-7, 0, 1e-3], np.float32))}]
OPS["Expm1"] += [{"x": X(np.array([1e-8, -1e-7, 0, 1e-3, 100, -100], np.float32))}]
OPS |= {op: [{"x": X(f(2, 3))}, {"x": X(i(7))}, {"x": X(i(7, dtype=np.int64))}] for op in ["Abs", "Neg", "Sign", "Square"]}
OPS["Round"] = [{"x": X(np.array([0.5, 1.5, -0.5, -2.5, 2.4], np.float32))}]
OPS |= {op: [{"x": X(SPECIAL)}] for op in ["IsFinite", "IsInf", "IsNan"]}
OPS["LogicalNot"] = [{"x": X(b(5))}]
OPS["Invert"] = [{"x": X(i(6))}, {"x": X(i(6, low=0, dtype=np.uint8))}]
OPS["Cast"] = [{"x": X(f(5, low=-9, high=9)), "DstT": np.int32}, {"x": X(i(5)), "DstT": np.float32}, {"x": X(i(5)), "DstT": bool},
               {"x": X(b(5)), "DstT": np.float32}, {"x": X(i(5, dtype=np.int64)), "DstT": np.int8}, {"x": X(f(5)), "DstT": np.float16},
               {"x": X(f(4)), "DstT": np.complex64}]

TWO = [{"x": X(f(2, 3)), "y": X(f(2, 3, low=0.3, high=2))}, {"x": X(f(4, 1, 3)), "y": X(f(2, 1, low=0.5))}, {"x": X(f(3)), "y": C(np.float32(1.25))}]
INTS = [{"x": X(i(7, low=-9, high=10)), "y": X(np.array([1, 2, -3, 4, -5, 2, 3], np.int32))}, {"x": X(i(5, dtype=np.int64)), "y": C(np.int64(-3))}]
OPS |= {op: TWO + INTS for op in ["Add", "AddV2", "Div", "FloorDiv", "FloorMod", "Maximum", "Minimum", "Mul", "SquaredDifference", "Sub"]}
OPS |= {op: TWO for op in ["DivNoNan", "MulNoNan", "RealDiv", "Xdivy"]}
OPS |= {op: INTS for op in ["Mod", "TruncateMod", "TruncateDiv"]}
OPS["DivNoNan"] = OPS["DivNoNan"] + [{"x": X(f(4)), "y": X(np.array([0, 1, 0, 2], np.float32))}]
OPS["MulNoNan"] = OPS["MulNoNan"] + [{"x": X(SPECIAL), "y": X(np.array([0, 0, 0, 0, 1, 2], np.float32))}]
OPS["Xdivy"] = OPS["Xdivy"] + [{"x": X(np.array([0, 1, 0], np.float32)), "y": X(np.array([0, 2, 3], np.float32))}]
OPS["Pow"] = [{"x": X(f(2, 3, low=0.2, high=3)), "y": X(f(3))}, {"x": X(f(4)), "y": C(np.float32(2))}, {"x": X(i(4)), "y": X(np.array([0, 1, 2, 3], np.int32))}]
OPS |= {op: [{"x": X(np.array([0, 1, 2, 0.5], np.float32)), "y": X(f(4, low=0.2, high=3))}] for op in ["Xlogy", "Xlog1py"]}
OPS["Atan2"] = [{"y": X(np.array([1, -1, 1, -1, 0, 0, 2, -2], np.float32)), "x": X(np.array([1, 1, -1, -1, 1, -1, 0, 0], np.float32))}]
COMPARE = [{"x": X(i(2, 6)), "y": X(i(6))}, {"x": X(f(3)), "y": X(f(3))}]
OPS |= {op: COMPARE for op in ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"]}
OPS["Equal"] = COMPARE + [{"x": X(b(4)), "y": X(b(4))}]
OPS["ApproximateEqual"] = [{"x": X(np.array([1, 2, 3], np.float32)), "y": X(np.array([1.001, 2, 3.2], np.float32)), "tolerance": 0.01}]
OPS |= {op: [{"x": X(b(2, 3)), "y": X(b(3))}] for op in ["LogicalAnd", "LogicalOr"]}
OPS |= {op: [{"x": X(i(5)), "y": X(i(5))}, {"x": X(i(5, low=0, dtype=np.uint8)), "y": X(i(5, low=0, dtype=np.uint8))}]
        for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]}
OPS |= {op: [{"x": X(i(5, low=-99, high=99)), "y": X(i(5, low=0, high=7))}, {"x": X(i(5, low=0, high=99, dtype=np.uint8)), "y": X(i(5, low=0, high=7, dtype=np.uint8))},
             {"x": X(i(5, low=-99, high=99, dtype=np.int64)), "y": X(i(5, low=0, high=7, dtype=np.int64))}] for op in ["LeftShift", "RightShift"]}
OPS["AddN"] = [{"inputs": [X(f(2, 3)), X(f(2, 3)), X(f(2, 3))]}, {"inputs": [X(f(3))]}, {"inputs": [X(i(3)), X(i(3))]}]
OPS["AccumulateNV2"] = [{"inputs": [X(f(2, 3)), X(f(2, 3))], "shape": [2, 3], "_static": True}]
OPS["Select"] = [{"condition": X(b(3)), "x": X(f(3, 2)), "y": X(f(3, 2))}, {"condition": X(np.bool_(True)), "x": X(f(3, 2)), "y": X(f(3, 2))},
                 {"condition": X(b(3, 2)), "x": X(i(3, 2)), "y": X(i(3, 2))}]
OPS["SelectV2"] = [{"condition": X(b(3, 1)), "t": X(f(2)), "e": X(f(3, 2))}, {"condition": X(b(2)), "t": X(i(2)), "e": X(i(2))}]
OPS["ClipByValue"] = [{"t": X(f(3, 4)), "clip_value_min": C(np.float32(-0.5)), "clip_value_max": C(np.float32(0.5))},
                      {"t": X(f(3, 4)), "clip_value_min": X(f(3, 4, low=-0.5, high=-0.2)), "clip_value_max": X(f(3, 4, low=0.1, high=0.5))}]
OPS["Identity"] = [{"input": X(f(3))}]
OPS["StopGradient"] = OPS["PreventGradient"] = OPS["Snapshot"] = OPS["Identity"]
OPS["IdentityN"] = [{"input": [X(f(3)), X(i(2))]}]
OPS["CheckNumerics"] = [{"tensor": X(f(3)), "message": "m"}]
OPS["CheckNumericsV2"] = OPS["CheckNumerics"]
OPS["EnsureShape"] = [{"input": X(f(3, 2)), "shape": [3, None]}]
OPS["DeepCopy"] = [{"x": X(f(3))}]
OPS["DebugGradientIdentity"] = [{"input": X(f(3))}]


class Elementwise(OpTest):
    pass


add_tests(Elementwise, OPS)
