"""Convolution and pooling layers."""

import itertools
import math

import numpy as np
from layer_test import LayerTest, numbers


def pooled_size(size, kernel, stride, pad, padded, ceil=True):
    """The number of windows in Caffe."""
    count = (math.ceil if ceil else math.floor)((size + 2 * pad - kernel) / stride) + 1
    if padded and (count - 1) * stride >= size + pad:
        count -= 1
    return count


def pooling(x, method, kernel, stride, pad, ceil=True):
    """The definition of PoolingLayer::Forward_cpu, and the positions of the maxima."""
    n, c, height, width = x.shape
    padded = any(pad)
    rows, columns = (pooled_size(s, kernel[i], stride[i], pad[i], padded, ceil) for i, s in enumerate((height, width)))
    y = np.zeros((n, c, rows, columns), np.float32)
    mask = np.full(y.shape, -1, np.float32)
    for r, k in itertools.product(range(rows), range(columns)):
        top, left = r * stride[0] - pad[0], k * stride[1] - pad[1]
        bottom, right = min(top + kernel[0], height + pad[0]), min(left + kernel[1], width + pad[1])
        size = (bottom - top) * (right - left)
        part = x[:, :, max(top, 0):min(bottom, height), max(left, 0):min(right, width)].astype(np.float64)
        flat = part.reshape(n, c, -1)
        if method == "AVE":
            with np.errstate(invalid="ignore"):
                y[:, :, r, k] = np.divide(flat.sum(-1), size)
        elif flat.shape[-1] == 0:
            y[:, :, r, k] = -np.finfo(np.float32).max
        else:
            y[:, :, r, k] = flat.max(-1)
            at = flat.argmax(-1)
            mask[:, :, r, k] = (max(top, 0) + at // part.shape[3]) * width + max(left, 0) + at % part.shape[3]
    return y, mask


class Convolution(LayerTest):
    def conv(self, x, outputs, kernel, params, group=1, kind="Convolution", bias=True, transposed=False):
        channels = x.shape[1]
        dims = (channels, outputs // group) if transposed else (outputs, channels // group)
        blobs = [numbers(*dims, *kernel, seed=1)] + ([numbers(outputs, seed=2)] if bias else [])
        text = f"num_output: {outputs} group: {group} bias_term: {str(bias).lower()} {params}"
        self.check_opencv(kind, x, f"convolution_param {{ {text} }}", blobs, atol=1e-4)

    def test_convolution(self):
        x = numbers(2, 4, 9, 11)
        for outputs, kernel, group, params in (
                (5, (3, 3), 1, "kernel_size: 3"),
                (6, (3, 3), 2, "kernel_size: 3 stride: 2 pad: 1"),
                (8, (3, 3), 4, "kernel_size: 3 pad: 1"),
                (4, (3, 3), 1, "kernel_size: 3 dilation: 2 pad: 2"),
                (4, (1, 1), 1, "kernel_size: 1"),
                (4, (3, 5), 1, "kernel_h: 3 kernel_w: 5 stride_h: 2 stride_w: 1 pad_h: 0 pad_w: 2"),
                (4, (3, 5), 2, "kernel_size: 3 kernel_size: 5 stride: 1 stride: 2 pad: 1 pad: 0"),
                (4, (7, 7), 1, "kernel_size: 7 stride: 2 pad: 3 engine: CUDNN")):
            for bias in (True, False):
                with self.subTest(params=params, bias=bias):
                    self.conv(x, outputs, kernel, params, group, bias=bias)

    def test_hole_is_a_dilation(self):
        x, w = numbers(1, 2, 9, 9), numbers(3, 2, 3, 3, seed=1)
        params = "convolution_param { num_output: 3 kernel_size: 3 bias_term: false %s: 2 }"
        np.testing.assert_array_equal(self.run_layer("Convolution", [x], params % "hole", [w])[0], self.run_layer("Convolution", [x], params % "dilation", [w])[0])

    def test_depthwise_types(self):
        x, w = numbers(1, 6, 7, 7), numbers(6, 1, 3, 3, seed=1)
        plain = self.run_layer("Convolution", [x], "convolution_param { num_output: 6 kernel_size: 3 group: 6 bias_term: false }", [w])[0]
        for kind in ("DepthwiseConvolution", "ConvolutionDepthwise"):
            for group in ("", "group: 6"):
                got = self.run_layer(kind, [x], f"convolution_param {{ num_output: 6 kernel_size: 3 bias_term: false {group} }}", [w])[0]
                np.testing.assert_array_equal(got, plain)

    def test_several_bottoms_share_the_weights(self):
        a, b, w = numbers(1, 2, 5, 5), numbers(1, 2, 5, 5, seed=3), numbers(3, 2, 3, 3, seed=1)
        params = "convolution_param { num_output: 3 kernel_size: 3 bias_term: false }"
        both = self.run_layer("Convolution", [a, b], params, [w], tops=["y", "z"])
        for x, got in zip((a, b), both):
            np.testing.assert_allclose(got, self.run_layer("Convolution", [x], params, [w])[0], rtol=1e-5, atol=1e-5)

    def test_one_and_three_spatial_axes(self):
        x, w = numbers(2, 3, 8), numbers(4, 3, 3, seed=1)
        got = self.run_layer("Convolution", [x], "convolution_param { num_output: 4 kernel_size: 3 bias_term: false }", [w])[0]
        wanted = sum(np.einsum("nct,oc->not", x[:, :, k:k + 6], w[:, :, k]) for k in range(3))
        self.close(got, wanted)
        x, w = numbers(1, 2, 4, 5, 6), numbers(3, 2, 2, 2, 2, seed=1)
        got = self.run_layer("Convolution", [x], "convolution_param { num_output: 3 kernel_size: 2 bias_term: false }", [w])[0]
        wanted = sum(np.einsum("ncdhw,oc->nodhw", x[:, :, a:a + 3, b:b + 4, c:c + 5], w[:, :, a, b, c])
                     for a, b, c in itertools.product(range(2), repeat=3))
        self.close(got, wanted)

    def test_deconvolution(self):
        x = numbers(2, 4, 5, 6)
        for outputs, kernel, group, params in (
                (3, (3, 3), 1, "kernel_size: 3"),
                (6, (4, 4), 2, "kernel_size: 4 stride: 2 pad: 1"),
                (4, (4, 4), 4, "kernel_size: 4 stride: 2 pad: 1"),
                (3, (2, 3), 1, "kernel_h: 2 kernel_w: 3 stride_h: 2 stride_w: 3")):
            with self.subTest(params=params):
                self.conv(x, outputs, kernel, params, group, kind="Deconvolution", transposed=True)

    def test_im2col(self):
        x = numbers(2, 3, 5, 6)
        got = self.run_layer("Im2col", [x], "convolution_param { kernel_size: 3 stride: 2 pad: 1 }")[0]
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        wanted = np.stack([padded[:, c, i:i + 5:2, j:j + 5:2][:, :3, :3] for c in range(3) for i in range(3) for j in range(3)], 1)
        self.close(got, wanted)


class Pooling(LayerTest):
    def pool(self, x, method, kernel, stride, pad, extra="", ceil=True):
        params = (f"pooling_param {{ pool: {method} kernel_h: {kernel[0]} kernel_w: {kernel[1]} stride_h: {stride[0]} stride_w: {stride[1]} "
                  f"pad_h: {pad[0]} pad_w: {pad[1]} {extra} }}")
        wanted, mask = pooling(x, method, kernel, stride, pad, ceil)
        self.check("Pooling", x, wanted, params)
        if method == "MAX":
            got = self.run_layer("Pooling", [x], params, tops=["y", "mask"])
            self.close(got[0], wanted)
            self.close(got[1], mask)

    def test_sizes(self):
        """Every combination, also windows that start beyond the end (kernel < stride, no padding)."""
        for size, kernel, stride, pad in itertools.product((5, 6, 7, 8), (1, 2, 3), (1, 2, 3), (0, 1)):
            if pad >= kernel:
                continue
            x = numbers(1, 2, size, 9 - size + 5, seed=size)
            for method in ("MAX", "AVE"):
                with self.subTest(size=size, kernel=kernel, stride=stride, pad=pad, method=method):
                    self.pool(x, method, (kernel, kernel), (stride, stride), (pad, pad))

    def test_rectangles_and_rounding(self):
        x = numbers(2, 3, 7, 10)
        for method in ("MAX", "AVE"):
            self.pool(x, method, (3, 2), (2, 3), (0, 1))
            self.pool(x, method, (2, 3), (1, 2), (1, 0))
            self.pool(x, method, (3, 3), (2, 2), (0, 0), "round_mode: FLOOR", ceil=False)
            self.pool(x, method, (3, 3), (2, 2), (1, 1), "ceil_mode: false", ceil=False)

    def test_a_window_larger_than_the_image(self):
        x = numbers(1, 2, 2, 2)
        for method in ("MAX", "AVE"):
            self.pool(x, method, (3, 3), (2, 2), (0, 0))

    def test_opencv(self):
        x = numbers(1, 3, 13, 14)
        for method, params in itertools.product(("MAX", "AVE"), ("kernel_size: 3 stride: 2", "kernel_size: 2 stride: 2", "kernel_size: 3 stride: 2 pad: 1",
                                                                 "global_pooling: true", "kernel_size: 3 stride: 1 pad: 1")):
            self.check_opencv("Pooling", x, f"pooling_param {{ pool: {method} {params} }}")

    def test_stochastic(self):
        x = numbers(1, 2, 6, 6, low=0)
        parts = x.reshape(1, 2, 3, 2, 3, 2).astype(np.float64)
        wanted = (parts ** 2).sum((3, 5)) / parts.sum((3, 5))
        self.check("Pooling", x, wanted, "pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }")

    def test_pyramid(self):
        for height, width, levels, method in ((8, 8, 3, "MAX"), (7, 9, 3, "MAX"), (10, 6, 2, "AVE"), (7, 5, 1, "MAX")):
            x = numbers(2, 3, height, width)
            parts = []
            for bins in (2 ** i for i in range(levels)):
                kernel = [math.ceil(s / bins) for s in (height, width)]
                pad = [(k * bins - s + 1) // 2 for k, s in zip(kernel, (height, width))]
                parts.append(pooling(x, method, kernel, kernel, pad)[0])
            wanted = parts[0] if levels == 1 else np.concatenate([p.reshape(2, -1) for p in parts], 1)
            self.check("SPP", x, wanted, f"spp_param {{ pyramid_height: {levels} pool: {method} }}")

    def test_unpooling(self):
        x = numbers(2, 3, 6, 8)
        wanted, mask = pooling(x, "MAX", (2, 2), (2, 2), (0, 0))
        y = np.zeros((2, 3, 48), np.float32)
        np.put_along_axis(y, mask.reshape(2, 3, -1).astype(int), wanted.reshape(2, 3, -1), 2)
        for params in ("", "upsample_param { scale: 2 }", "upsample_param { upsample_h: 6 upsample_w: 8 }"):
            self.check("Upsample", [wanted, mask], y.reshape(2, 3, 6, 8), params)
        self.check("Upsample", x, x.repeat(3, 2).repeat(3, 3), "upsample_param { scale: 3 }")
