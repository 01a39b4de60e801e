"""Convolutions, products, pooling and resampling, against LiteRT."""

import unittest

import numpy as np
from op_case import OpCase
from writer import Tensor as T
from writer import const, options

RNG = np.random.default_rng(5)


def weights(shape, dtype="float32"):
    return T(shape, dtype, RNG.standard_normal(shape).astype("float32") * 0.5)


def ints(shape, dtype, q):
    low, high = {"int8": (-127, 127), "uint8": (0, 255), "int32": (-500, 500), "int64": (-500, 500), "int16": (-500, 500)}[dtype]
    return T(shape, dtype, RNG.integers(low, high, shape, endpoint=True), q=q)


class Convolutions(OpCase):
    def test_conv_2d(self):
        for padding in (0, 1):
            for stride in (1, 2):
                for dilation in (1, 2):
                    for act in (0, 1, 3):
                        opts = options("Conv2DOptions", padding=padding, strideW=stride, strideH=stride, dilationWFactor=dilation, dilationHFactor=dilation,
                                       fusedActivationFunction=act)
                        self.check("CONV_2D", [T([1, 9, 8, 4]), weights([6, 3, 3, 4]), weights([6])], [T([1])], opts)
        self.check("CONV_2D", [T([2, 9, 8, 4]), weights([6, 1, 1, 4]), weights([6])], [T([1])], options("Conv2DOptions", strideW=1, strideH=2))
        self.check("CONV_2D", [T([2, 5, 8, 4]), weights([6, 2, 3, 2]), weights([6])], [T([1])], options("Conv2DOptions", strideW=1, strideH=1))
        self.check("CONV_2D", [T([1, 5, 5, 2]), T([3, 2, 2, 2]), T([3])], [T([1])], options("Conv2DOptions", strideW=1, strideH=1))

    def test_quantized_conv_2d(self):
        for padding in (0, 1):
            for act in (0, 1, 3):
                opts = options("Conv2DOptions", padding=padding, strideW=1, strideH=2, fusedActivationFunction=act)
                scales = ([0.01, 0.02, 0.015, 0.03], [0] * 4, 0)
                products = ([0.05 * s for s in scales[0]], [0] * 4, 0)
                self.check("CONV_2D", [T([1, 9, 8, 5], "int8", q=(0.05, -3)), ints([4, 3, 3, 5], "int8", scales), ints([4], "int32", products)],
                           [T([1], "int8", q=(0.4, 7))], opts)
                self.check("CONV_2D", [T([1, 9, 8, 5], "uint8", q=(0.05, 120)), ints([4, 3, 3, 5], "uint8", (0.02, 130)), ints([4], "int32", (0.001, 0))],
                           [T([1], "uint8", q=(0.4, 100))], opts)
                self.check("CONV_2D", [T([1, 9, 8, 5], "int16", q=(0.001, 0)), ints([4, 3, 3, 5], "int8", scales),
                                       ints([4], "int64", ([0.001 * s for s in scales[0]], [0] * 4, 0))], [T([1], "int16", q=(0.01, 0))], opts)

    def test_int4_weights(self):
        packed = RNG.integers(0, 256, 6 * 9 * 4 // 2, np.uint8).tobytes()
        self.check("CONV_2D", [T([1, 9, 8, 4], "int8", q=(0.05, -3)), T([6, 3, 3, 4], "int4", packed, q=([0.1] * 6, [0] * 6, 0)), ints([6], "int32", ([0.005] * 6, [0] * 6, 0))],
                   [T([1], "int8", q=(0.4, 7))], options("Conv2DOptions", strideW=1, strideH=1))
        packed = RNG.integers(0, 256, 6 * 8 // 2, np.uint8).tobytes()
        self.check("FULLY_CONNECTED", [T([3, 8], "int8", q=(0.05, -3)), T([6, 8], "int4", packed, q=(0.1, 0)), ints([6], "int32", (0.005, 0))],
                   [T([1], "int8", q=(0.2, 7))], options("FullyConnectedOptions"))
        self.check("FULLY_CONNECTED", [T([3, 8]), T([6, 8], "int4", packed, q=([0.1] * 6, [0] * 6, 0)), weights([6])], [T([1])],
                   options("FullyConnectedOptions", asymmetricQuantizeInputs=True))

    def test_depthwise(self):
        for padding in (0, 1):
            for stride in (1, 2):
                for multiplier in (1, 2):
                    opts = options("DepthwiseConv2DOptions", padding=padding, strideW=stride, strideH=stride, depthMultiplier=multiplier,
                                   fusedActivationFunction=1)
                    c = 4 * multiplier
                    self.check("DEPTHWISE_CONV_2D", [T([1, 9, 8, 4]), weights([1, 3, 3, c]), weights([c])], [T([1])], opts)
                    scales = (list(RNG.uniform(0.01, 0.03, c)), [0] * c, 3)
                    self.check("DEPTHWISE_CONV_2D", [T([1, 9, 8, 4], "int8", q=(0.05, -3)), ints([1, 3, 3, c], "int8", scales),
                                                     ints([c], "int32", ([0.05 * s for s in scales[0]], [0] * c, 0))], [T([1], "int8", q=(0.2, 7))], opts)
                    self.check("DEPTHWISE_CONV_2D", [T([1, 9, 8, 4], "uint8", q=(0.05, 120)), ints([1, 3, 3, c], "uint8", (0.02, 130)),
                                                     ints([c], "int32", (0.001, 0))], [T([1], "uint8", q=(0.2, 100))], opts)

    def test_hybrid(self):
        scales = ([0.01, 0.02, 0.015, 0.03], [0] * 4, 0)
        for batch in (1, 2):
            self.check("CONV_2D", [T([batch, 9, 8, 5]), ints([4, 3, 3, 5], "int8", scales), weights([4])], [T([1])], options("Conv2DOptions", strideW=1, strideH=1))
            self.check("CONV_2D", [T([batch, 9, 8, 5]), ints([4, 3, 3, 5], "int8", (0.02, 0)), weights([4])], [T([1])], options("Conv2DOptions", strideW=1, strideH=1))
            self.check("DEPTHWISE_CONV_2D", [T([batch, 9, 8, 4]), ints([1, 3, 3, 4], "int8", scales[:2] + (3,)), weights([4])], [T([1])],
                       options("DepthwiseConv2DOptions", strideW=1, strideH=1, depthMultiplier=1))
            self.check("TRANSPOSE_CONV", [const([batch, 8, 8, 4]), ints([4, 3, 3, 5], "int8", scales), T([batch, 4, 4, 5])], [T([batch, 8, 8, 4])],
                       options("TransposeConvOptions", strideW=2, strideH=2))
        for rows in (1, 3):
            for asymmetric in (False, True):
                opts = options("FullyConnectedOptions", asymmetricQuantizeInputs=asymmetric)
                self.check("FULLY_CONNECTED", [T([rows, 8]), ints([6, 8], "int8", (0.02, 0)), weights([6])], [T([1])], opts)
                self.check("FULLY_CONNECTED", [T([rows, 8]), ints([6, 8], "int8", ([0.02] * 6, [0] * 6, 0)), weights([6])], [T([1])], opts)

    def test_transpose_conv(self):
        for padding in (0, 1):
            for stride in (1, 2):
                size = 8 if padding == 0 and stride == 2 else 4 if padding == 0 else (4 - 1) * stride + 3
                opts = options("TransposeConvOptions", padding=padding, strideW=stride, strideH=stride)
                self.check("TRANSPOSE_CONV", [const([1, size, size, 5]), weights([5, 3, 3, 4]), T([1, 4, 4, 4])], [T([1, size, size, 5])], opts)
                self.check("TRANSPOSE_CONV", [const([1, size, size, 5]), weights([5, 3, 3, 4]), T([1, 4, 4, 4]), weights([5])], [T([1, size, size, 5])], opts)
        scales = ([0.01, 0.02, 0.015, 0.03, 0.01], [0] * 5, 0)
        self.check("TRANSPOSE_CONV", [const([1, 8, 8, 5]), ints([5, 3, 3, 4], "int8", scales), T([1, 4, 4, 4], "int8", q=(0.05, -3))],
                   [T([1, 8, 8, 5], "int8", q=(0.2, 7))], options("TransposeConvOptions", padding=0, strideW=2, strideH=2))

    def test_quantized_transpose_conv(self):
        """All paddings, strides and kernels, with bias, scales per channel, activations, and sums of up to 64 x 9 products."""
        rng = np.random.default_rng(11)
        for padding, stride, kernel, channels, act in ((0, 1, 3, 4, 0), (0, 2, 3, 64, 1), (0, 2, 2, 8, 3), (1, 1, 2, 5, 0), (1, 2, 3, 64, 0), (1, 3, 2, 7, 1)):
            size = 4 * stride if padding == 0 else 3 * stride + max(kernel, stride)
            shape, opts = const([2, size, size, 5]), options("TransposeConvOptions", padding=padding, strideW=stride, strideH=stride, fusedActivationFunction=act)
            dims, scales = [5, kernel, kernel, channels], list(rng.uniform(0.002, 0.02, 5).astype(np.float32))
            for bias in ([], [const(rng.integers(-2000, 2000, 5), "int32", ([0.05 * s for s in scales], [0] * 5, 0))]):
                with self.subTest(padding=padding, stride=stride, kernel=kernel, channels=channels, act=act, bias=bool(bias)):
                    x = T([2, 4, 4, channels], "int8", q=(0.05, -3))
                    self.check("TRANSPOSE_CONV", [shape, ints(dims, "int8", (scales, [0] * 5, 0)), x] + bias, [T([2, size, size, 5], "int8", q=(0.08, 7))], opts)
                    x = T([2, 4, 4, channels], "int16", q=(0.001, 0))
                    wide = [const(rng.integers(-2000, 2000, 5), "int64", ([0.001 * s for s in scales], [0] * 5, 0))] if bias else []
                    self.check("TRANSPOSE_CONV", [shape, ints(dims, "int8", (scales, [0] * 5, 0)), x] + wide, [T([2, size, size, 5], "int16", q=(0.002, 0))], opts)
            x = T([2, 4, 4, channels], "uint8", q=(0.05, 120))
            self.check("TRANSPOSE_CONV", [shape, ints(dims, "uint8", (0.01, 130)), x], [T([2, size, size, 5], "uint8", q=(0.1, 100))], opts)

    def test_conv_3d(self):
        for padding in (0, 1):
            opts = options("Conv3DOptions", padding=padding, strideD=1, strideW=2, strideH=1, fusedActivationFunction=1)
            self.check("CONV_3D", [T([1, 5, 6, 7, 3]), weights([2, 3, 3, 3, 4]), weights([4])], [T([1])], opts)
        size = [1, 6, 7, 8, 4]
        opts = options("Conv3DOptions", padding=1, strideD=1, strideW=1, strideH=1)
        self.check("CONV_3D_TRANSPOSE", [const(size), weights([2, 3, 3, 4, 3]), T([1, 5, 5, 6, 3])], [T(size)], opts)


class Products(OpCase):
    def test_fully_connected(self):
        for act in (0, 1, 3):
            opts = options("FullyConnectedOptions", fusedActivationFunction=act)
            self.check("FULLY_CONNECTED", [T([3, 8]), weights([6, 8]), weights([6])], [T([1])], opts)
            self.check("FULLY_CONNECTED", [T([2, 2, 2, 4]), weights([6, 8])], [T([1])], opts)
        self.check("FULLY_CONNECTED", [T([2, 3, 8]), weights([6, 8]), weights([6])], [T([1])], options("FullyConnectedOptions", keepNumDims=True))
        self.check("FULLY_CONNECTED", [T([2, 8]), T([6, 8]), None], [T([1])], options("FullyConnectedOptions"))

    def test_quantized_fully_connected(self):
        for act in (0, 1):
            opts = options("FullyConnectedOptions", fusedActivationFunction=act)
            self.check("FULLY_CONNECTED", [T([3, 80], "int8", q=(0.05, -3)), ints([6, 80], "int8", (0.02, 0)), ints([6], "int32", (0.001, 0))], [T([1], "int8", q=(0.3, 4))], opts)
            self.check("FULLY_CONNECTED", [T([3, 80], "int8", q=(0.05, -3)), ints([6, 80], "int8", ([.01, .02, .03, .01, .02, .03], [0] * 6, 0)),
                                           ints([6], "int32", (0.001, 0))], [T([1], "int8", q=(0.3, 4))], opts)
            self.check("FULLY_CONNECTED", [T([3, 80], "uint8", q=(0.05, 120)), ints([6, 80], "uint8", (0.02, 130)), ints([6], "int32", (0.001, 0))],
                       [T([1], "uint8", q=(0.3, 100))], opts)
            self.check("FULLY_CONNECTED", [T([3, 80], "int16", q=(0.001, 0)), ints([6, 80], "int8", (0.02, 0)), ints([6], "int64", (0.00002, 0))],
                       [T([1], "int16", q=(0.003, 0))], opts)

    def test_batch_matmul(self):
        for x, y in ((False, False), (True, False), (False, True), (True, True)):
            a, b = ([2, 4, 3] if x else [2, 3, 4]), ([2, 5, 4] if y else [2, 4, 5])
            opts = options("BatchMatMulOptions", adjX=x, adjY=y)
            self.check("BATCH_MATMUL", [T(a), T(b)], [T([1])], opts)
            self.check("BATCH_MATMUL", [T(a, "int8", q=(.05, 3)), T(b, "int8", q=(.03, -5))], [T([1], "int8", q=(.2, 1))], opts)
            # Sums of 700 products, whose largest is 89 million: more than f32 holds exactly.
            a, b = ([2, 700, 3] if x else [2, 3, 700]), ([2, 5, 700] if y else [2, 700, 5])
            self.check("BATCH_MATMUL", [T(a, "int8", q=(.05, 3)), T(b, "int8", q=(.03, -5))], [T([1], "int8", q=(2.5, 1))], opts)
            self.check("BATCH_MATMUL", [T(a, "int16", q=(.001, 0)), T(b, "int16", q=(.002, 0))], [T([1], "int16", q=(.11, 0))], opts)
        for a, b in (([3, 8], [8, 5]), ([1, 4, 3, 8], [2, 1, 8, 5]), ([2, 3, 8], [8, 5])):
            self.check("BATCH_MATMUL", [T(a, "int8", q=(.05, 3)), T(b, "int8", q=(.03, -5))], [T([1], "int8", q=(.2, 1))], options("BatchMatMulOptions"))
        self.check("BATCH_MATMUL", [T([2, 3, 2, 4]), T([3, 4, 5])], [T([1])], options("BatchMatMulOptions"))
        self.check("BATCH_MATMUL", [T([2, 3, 4]), ints([2, 4, 5], "int8", (.02, 0))], [T([1])], options("BatchMatMulOptions", asymmetricQuantizeInputs=True))


class Images(OpCase):
    def test_pooling(self):
        for code in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"):
            for padding in (0, 1):
                for act in (0, 1):
                    opts = options("Pool2DOptions", padding=padding, strideW=2, strideH=1, filterWidth=3, filterHeight=2, fusedActivationFunction=act)
                    self.check(code, [T([1, 7, 8, 3])], [T([1])], opts)
                    if code != "L2_POOL_2D":
                        for dtype, q in (("int8", (0.05, -3)), ("uint8", (0.05, 120))):
                            self.check(code, [T([1, 7, 8, 3], dtype, q=q)], [T([1], dtype, q=q)], opts)

    def test_resize(self):
        for size in ([7, 9], [3, 2], [8, 10], [4, 5]):
            for align, half in ((False, False), (True, False), (False, True)):
                self.check("RESIZE_BILINEAR", [T([1, 4, 5, 3]), const(size)], [T([1])], options("ResizeBilinearOptions", alignCorners=align, halfPixelCenters=half))
                self.check("RESIZE_NEAREST_NEIGHBOR", [T([1, 4, 5, 3]), const(size)], [T([1])],
                           options("ResizeNearestNeighborOptions", alignCorners=align, halfPixelCenters=half))
                self.check("RESIZE_BILINEAR", [T([1, 4, 5, 3], "int8", q=(.1, 3)), const(size)], [T([1], "int8", q=(.1, 3))],
                           options("ResizeBilinearOptions", alignCorners=align, halfPixelCenters=half))
                self.check("RESIZE_NEAREST_NEIGHBOR", [T([1, 4, 5, 3], "uint8", q=(.1, 3)), const(size)], [T([1], "uint8", q=(.1, 3))],
                           options("ResizeNearestNeighborOptions", alignCorners=align, halfPixelCenters=half), steps=0)

    def test_non_max_suppression(self):
        corners = RNG.uniform(0, 10, [30, 2])
        boxes = np.concatenate([corners, corners + RNG.uniform(1, 4, [30, 2])], 1).astype("float32")
        scores = RNG.permutation(30).astype("float32") / 30
        numbers = [const(8), const(0.3, "float32"), const(0.2, "float32")]
        self.check("NON_MAX_SUPPRESSION_V4", [T([30, 4]), T([30]), *numbers], [T([8], "int32"), T([], "int32")], feeds=[boxes, scores])
        self.check("NON_MAX_SUPPRESSION_V5", [T([30, 4]), T([30]), *numbers, const(0.0, "float32")], [T([8], "int32"), T([8]), T([], "int32")], feeds=[boxes, scores])
        numbers[0] = const(30)
        self.check("NON_MAX_SUPPRESSION_V4", [T([30, 4]), T([30]), *numbers], [T([30], "int32"), T([], "int32")], feeds=[boxes, scores])


if __name__ == "__main__":
    unittest.main()
