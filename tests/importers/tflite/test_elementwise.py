"""Functions of single elements, against LiteRT."""

import unittest

import numpy as np
from op_case import OpCase
from writer import Tensor as T
from writer import const, options

Q8, Q8B, Q8C = (0.05, -3), (0.03, 10), (0.08, 5)
U8, U8B, U8C = (0.05, 120), (0.03, 100), (0.08, 130)
Q16 = (2.0 ** -12, 0)


class Unary(OpCase):
    def floats(self, code, low=-3.0, high=3.0, opts=None, **more):
        for shape in ([7], [2, 3], [1, 4, 5, 3], [2, 1, 3, 2, 2]):
            self.check(code, [T(shape, low=low, high=high)], [T(shape)], opts, **more)

    def quantized(self, code, result=Q8B, opts=None, types=("int8", "uint8"), low=None, **more):
        for dtype in types:
            q = {"int8": Q8, "uint8": U8, "int16": Q16}[dtype]
            r = {"int8": result, "uint8": (result[0], result[1] + 128), "int16": Q16}[dtype]
            self.check(code, [T([1, 4, 5, 3], dtype, q=q, low=low)], [T([1, 4, 5, 3], dtype, q=r)], opts, **more)

    def test_abs(self):
        self.floats("ABS")
        self.check("ABS", [T([2, 3], "int32")], [T([2, 3], "int32")])
        self.quantized("ABS", types=("int8",))

    def test_ceil(self):
        self.floats("CEIL")

    def test_cos(self):
        self.floats("COS")

    def test_exp(self):
        self.floats("EXP")
        self.quantized("EXP", types=("int8",), result=(2.0, -128))

    def test_floor(self):
        self.floats("FLOOR")

    def test_hard_swish(self):
        self.floats("HARD_SWISH", -6, 6)
        self.quantized("HARD_SWISH", result=(0.04, -10))

    def test_log(self):
        self.floats("LOG", 0.1, 8)
        self.check("LOG", [T([3, 5], "int8", q=(0.05, -128), low=-120)], [T([3, 5], "int8", q=(0.04, 0))])

    def test_logistic(self):
        self.floats("LOGISTIC", -8, 8)
        self.check("LOGISTIC", [T([3, 50], "int8", q=Q8)], [T([3, 50], "int8", q=(1 / 256, -128))])
        self.check("LOGISTIC", [T([3, 50], "uint8", q=U8)], [T([3, 50], "uint8", q=(1 / 256, 0))])
        self.check("LOGISTIC", [T([3, 50], "int16", q=Q16)], [T([3, 50], "int16", q=(1 / 32768, 0))], steps=1)

    def test_neg(self):
        self.floats("NEG")
        self.check("NEG", [T([2, 3], "int32")], [T([2, 3], "int32")])
        self.check("NEG", [T([2, 3], "int64")], [T([2, 3], "int64")])

    def test_relu(self):
        for code in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"):
            self.floats(code, -8, 8)
            self.quantized(code)

    def test_round(self):
        self.floats("ROUND")
        self.check("ROUND", [T([8])], [T([8])], feeds=[np.array([-2.5, -1.5, -.5, .5, 1.5, 2.5, 3.5, 4.4], "float32")])

    def test_sign(self):
        self.floats("SIGN")
        self.check("SIGN", [T([2, 3], "int32")], [T([2, 3], "int32")])

    def test_sin(self):
        self.floats("SIN")

    def test_sqrt(self):
        self.floats("SQRT", 0, 9)

    def test_rsqrt(self):
        self.floats("RSQRT", 0.1, 9)
        self.check("RSQRT", [T([3, 5], "int8", q=(0.05, -128), low=-100)], [T([3, 5], "int8", q=(0.02, -128))])

    def test_tanh(self):
        self.floats("TANH")
        self.check("TANH", [T([3, 50], "int8", q=Q8)], [T([3, 50], "int8", q=(1 / 128, 0))])
        self.check("TANH", [T([3, 50], "uint8", q=U8)], [T([3, 50], "uint8", q=(1 / 128, 128))])
        self.check("TANH", [T([3, 50], "int16", q=Q16)], [T([3, 50], "int16", q=(1 / 32768, 0))], steps=1)

    def test_square(self):
        self.floats("SQUARE")

    def test_elu(self):
        self.floats("ELU")
        self.quantized("ELU", types=("int8",))

    def test_leaky_relu(self):
        for alpha in (0.1, 0.3, 1.5):
            self.floats("LEAKY_RELU", opts=options("LeakyReluOptions", alpha=alpha))
            self.quantized("LEAKY_RELU", opts=options("LeakyReluOptions", alpha=alpha))

    def test_gelu(self):
        for approximate in (False, True):
            self.floats("GELU", opts=options("GeluOptions", approximate=approximate))
            self.quantized("GELU", opts=options("GeluOptions", approximate=approximate))

    def test_logical_not(self):
        self.check("LOGICAL_NOT", [T([2, 3], "bool")], [T([2, 3], "bool")])

    def test_zeros_like(self):
        for dtype in ("float32", "int32", "int64"):
            self.check("ZEROS_LIKE", [T([2, 3], dtype)], [T([2, 3], dtype)])

    def test_cast(self):
        for a in ("float32", "int32", "int64", "uint8", "int8", "int16", "bool", "uint32"):
            for b in ("float32", "int32", "int64", "int16", "bool"):
                self.check("CAST", [T([2, 3], a, low=None if a == "bool" else 0)], [T([2, 3], b)])
        self.check("CAST", [T([2, 3])], [T([2, 3], "float16")])
        self.check("CAST", [T([2, 3], "float16")], [T([2, 3])])

    def test_dequantize_and_quantize(self):
        self.check("DEQUANTIZE", [T([1, 2, 3, 4], "int8", q=Q8)], [T([1, 2, 3, 4])])
        self.check("DEQUANTIZE", [T([4], "uint8", q=U8)], [T([4])])
        self.check("DEQUANTIZE", [T([4], "int16", q=Q16)], [T([4])])
        self.check("DEQUANTIZE", [T([4], "float16")], [T([4])])
        self.check("DEQUANTIZE", [T([3, 4], "int8", q=([0.1, 0.2, 0.3], [1, 2, -3], 0))], [T([3, 4])])
        for dtype, q in (("int8", Q8), ("uint8", U8), ("int16", Q16)):
            self.check("QUANTIZE", [T([3, 40], low=-8, high=8)], [T([3, 40], dtype, q=q)])
        self.check("QUANTIZE", [T([3, 40], "int8", q=Q8)], [T([3, 40], "int8", q=Q8B)])
        self.check("QUANTIZE", [T([3, 40], "uint8", q=U8)], [T([3, 40], "int8", q=Q8)])
        self.check("QUANTIZE", [T([3, 40], "int16", q=Q16)], [T([3, 40], "int8", q=Q8)])

    def test_fake_quant(self):
        for low, high, bits, narrow in ((-1, 1, 8, False), (-0.3, 2.5, 8, False), (0, 6, 4, False)):
            self.check("FAKE_QUANT", [T([3, 40], low=-3, high=7)], [T([3, 40])],
                       options("FakeQuantOptions", min=low, max=high, numBits=bits, narrowRange=narrow))


class Binary(OpCase):
    shapes = (([2, 3], [2, 3]), ([2, 3], [3]), ([1, 4, 5, 3], [3]), ([1, 4, 5, 3], [1, 1, 1, 3]), ([1, 4, 5, 3], []), ([4, 1, 3], [2, 1]))

    def both(self, code, name=None, types=("float32", "int32"), low=None, acts=(0,), **more):
        for a, b in self.shapes:
            for dtype in types:
                for act in acts:
                    opts = options(name, fusedActivationFunction=act) if name else None
                    self.check(code, [T(a, dtype, low=low), T(b, dtype, low=low)], [T([1], dtype)], opts, **more)

    def quantized(self, code, name=None, types=("int8", "uint8"), acts=(0,), **more):
        for a, b in (([1, 4, 5, 3], [1, 4, 5, 3]), ([1, 4, 5, 3], [3])):
            for dtype in types:
                x, y, z = {"int8": (Q8, Q8B, Q8C), "uint8": (U8, U8B, U8C), "int16": (Q16, (2.0 ** -11, 0), (2.0 ** -10, 0))}[dtype]
                for act in acts:
                    opts = options(name, fusedActivationFunction=act) if name else None
                    self.check(code, [T(a, dtype, q=x), T(b, dtype, q=y)], [T(a, dtype, q=z)], opts, **more)

    def test_add(self):
        self.both("ADD", "AddOptions", ("float32", "int32", "int64"), acts=(0, 1, 3))
        self.both("ADD", "AddOptions", acts=(2,), types=("float32",))
        self.quantized("ADD", "AddOptions", ("int8", "uint8"), acts=(0, 1, 3))
        self.check("ADD", [T([2, 3]), const([[1, 2, 3]], "float32")], [T([2, 3])], options("AddOptions"))

    def test_add_int16(self):
        opts = options("AddOptions", potScaleInt16=False)
        self.check("ADD", [T([3, 40], "int16", q=Q16), T([3, 40], "int16", q=(2.0 ** -11, 0))], [T([3, 40], "int16", q=(2.0 ** -10, 0))], opts)

    def test_sub(self):
        self.both("SUB", "SubOptions", ("float32", "int32", "int64"), acts=(0, 1))
        self.quantized("SUB", "SubOptions", acts=(0, 3))

    def test_mul(self):
        self.both("MUL", "MulOptions", ("float32", "int32", "int64"), acts=(0, 1, 3))
        self.quantized("MUL", "MulOptions", ("int8", "uint8", "int16"), acts=(0, 1))

    def test_div(self):
        self.both("DIV", "DivOptions", ("float32",), low=0.5, acts=(0, 1))
        self.both("DIV", "DivOptions", ("int32",), low=1)
        self.check("DIV", [T([3, 5], "uint8", q=U8), T([3, 5], "uint8", q=(0.03, 0), low=60)], [T([3, 5], "uint8", q=U8C)], options("DivOptions"))

    def test_maximum_and_minimum(self):
        for code in ("MAXIMUM", "MINIMUM"):
            self.both(code, types=("float32", "int32", "int64"))
            self.check(code, [T([3, 5], "int8", q=Q8), T([5], "int8", q=Q8)], [T([3, 5], "int8", q=Q8)])

    def test_pow(self):
        self.both("POW", types=("float32",), low=0.2)
        self.check("POW", [T([3, 5], "int32"), T([3, 5], "int32", low=0, high=3)], [T([3, 5], "int32")])

    def test_floor_div(self):
        self.check("FLOOR_DIV", [T([3, 50]), T([3, 50], low=0.3)], [T([3, 50])])
        self.check("FLOOR_DIV", [T([3, 50], low=-8, high=8), T([3, 50], low=-3, high=-0.5)], [T([3, 50])])
        for low, high in ((1, 5), (-5, -1)):
            self.check("FLOOR_DIV", [T([3, 50], "int32", low=-30, high=30), T([3, 50], "int32", low=low, high=high)], [T([3, 50], "int32")])

    def test_floor_mod(self):
        for low, high in ((1, 5), (-5, -1)):
            for dtype in ("int32", "int64"):
                self.check("FLOOR_MOD", [T([3, 50], dtype, low=-30, high=30), T([3, 50], dtype, low=low, high=high)], [T([3, 50], dtype)])
            self.check("FLOOR_MOD", [T([3, 50], low=-30, high=30), T([3, 50], low=low, high=high)], [T([3, 50])], atol=1e-4)

    def test_squared_difference(self):
        self.both("SQUARED_DIFFERENCE")
        self.check("SQUARED_DIFFERENCE", [T([3, 5], "int8", q=Q8), T([3, 5], "int8", q=Q8B)], [T([3, 5], "int8", q=(0.5, -128))])

    def test_atan2(self):
        self.check("ATAN2", [T([3, 50]), T([3, 50])], [T([3, 50])])

    def test_add_n(self):
        self.check("ADD_N", [T([2, 3]), T([2, 3]), T([2, 3])], [T([2, 3])])
        self.check("ADD_N", [T([2, 3], "int32"), T([2, 3], "int32")], [T([2, 3], "int32")])

    def test_comparisons(self):
        for code in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
            for dtype in ("float32", "int32", "int64"):
                self.check(code, [T([4, 9], dtype), T([9], dtype)], [T([4, 9], "bool")])
            self.check(code, [T([4, 9], "int8", q=Q8), T([4, 9], "int8", q=Q8)], [T([4, 9], "bool")])

    def test_logical(self):
        for code in ("LOGICAL_AND", "LOGICAL_OR"):
            self.check(code, [T([4, 9], "bool"), T([9], "bool")], [T([4, 9], "bool")])

    def test_bitwise(self):
        for dtype in ("int32", "int8", "uint8", "int16"):
            self.check("BITWISE_XOR", [T([4, 9], dtype), T([4, 9], dtype)], [T([4, 9], dtype)])
            self.check("RIGHT_SHIFT", [T([4, 9], dtype, low=-100 if dtype[0] == "i" else 0, high=100), T([4, 9], dtype, low=0, high=6)], [T([4, 9], dtype)])

    def test_prelu(self):
        self.check("PRELU", [T([1, 4, 5, 3]), const([[[0.1, 0.2, -0.3]]], "float32")], [T([1, 4, 5, 3])])
        self.check("PRELU", [T([1, 4, 5, 3]), T([1, 1, 3])], [T([1, 4, 5, 3])])
        self.check("PRELU", [T([1, 4, 5, 3], "int8", q=Q8), T([1, 1, 3], "int8", q=(0.01, 0))], [T([1, 4, 5, 3], "int8", q=Q8B)])

    def test_select(self):
        for dtype in ("float32", "int32", "int64"):
            self.check("SELECT", [T([2, 3], "bool"), T([2, 3], dtype), T([2, 3], dtype)], [T([2, 3], dtype)])
            self.check("SELECT_V2", [T([2, 1], "bool"), T([2, 3], dtype), T([3], dtype)], [T([2, 3], dtype)])
        self.check("SELECT", [T([2], "bool"), T([2, 3]), T([2, 3])], [T([2, 3])])


if __name__ == "__main__":
    unittest.main()
