"""Layers that compute with single elements, channels or vectors."""

import numpy as np
from layer_test import LayerTest, numbers


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Activations(LayerTest):
    def test_functions(self):
        x = numbers(2, 3, 4, 5, low=-4, high=4)
        d = x.astype(np.float64)
        relu = np.maximum(d, 0)
        for kind, params, wanted in (
                ("AbsVal", "", np.abs(d)), ("BNLL", "", np.log1p(np.exp(d))), ("ReLU", "", relu),
                ("ReLU", "relu_param { negative_slope: 0.1 engine: CAFFE }", np.where(d > 0, d, 0.1 * d)),
                ("ReLU6", "", np.clip(d, 0, 6)), ("ELU", "", np.where(d > 0, d, np.expm1(d))),
                ("ELU", "elu_param { alpha: 0.5 }", np.where(d > 0, d, 0.5 * np.expm1(d))),
                ("Sigmoid", "", sigmoid(d)), ("TanH", "", np.tanh(d)), ("Swish", "", d * sigmoid(d)),
                ("Swish", "swish_param { beta: 1.5 }", d * sigmoid(1.5 * d)), ("Mish", "", d * np.tanh(np.log1p(np.exp(d)))),
                ("HardSwish", "", d * np.clip(d + 3, 0, 6) / 6), ("HardSigmoid", "", np.clip(0.2 * d + 0.5, 0, 1)),
                ("Clip", "clip_param { min: -1 max: 2 }", np.clip(d, -1, 2)),
                ("CReLU", "", np.maximum(np.concatenate([d, -d], 1), 0)),
                ("Threshold", "threshold_param { threshold: 0.5 }", (d > 0.5).astype(float)),
                ("Exp", "", np.exp(d)), ("Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }", 2 ** (0.5 * d + 1)),
                ("Dropout", "dropout_param { dropout_ratio: 0.3 }", d), ("Dropout", "dropout_param { dropout_ratio: 0.3 scale_train: false }", 0.7 * d),
                ("Power", "", d), ("Power", "power_param { power: 2 scale: 0.5 shift: -1 }", (0.5 * d - 1) ** 2),
                ("Power", "power_param { power: 3 }", d ** 3), ("Split", "", d)):
            with self.subTest(kind=kind, params=params):
                self.check(kind, x, wanted, params)

    def test_of_positive_numbers(self):
        x = numbers(2, 5, low=0.1, high=4)
        d = x.astype(np.float64)
        self.check("Log", x, np.log(d))
        self.check("Log", x, np.log(2 * d + 1) / np.log(10), "log_param { base: 10 scale: 2 shift: 1 }")
        self.check("Power", x, (2 * d + 1) ** -0.75, "power_param { power: -0.75 scale: 2 shift: 1 }")

    def test_prelu(self):
        x, slopes = numbers(2, 3, 4, 5), numbers(3, seed=1)
        self.check("PReLU", x, np.where(x > 0, x, x * slopes.reshape(3, 1, 1)), "", [slopes])
        self.check("PReLU", x, np.where(x > 0, x, x * slopes[0]), "prelu_param { channel_shared: true }", [slopes[:1]])
        self.check_opencv("PReLU", x, "", [slopes])
        self.check("PReLU", x[:, :, 0, 0], np.where(x > 0, x, x * slopes.reshape(3, 1, 1))[:, :, 0, 0], "", [slopes])

    def test_opencv(self):
        x = numbers(2, 3, 4, 5, low=-4, high=4)
        for kind, params in (("AbsVal", ""), ("BNLL", ""), ("ELU", ""), ("ReLU", "relu_param { negative_slope: 0.2 }"), ("ReLU6", ""), ("Sigmoid", ""), ("TanH", ""),
                             ("Power", "power_param { power: 2 scale: 0.5 shift: -1 }"), ("Exp", "exp_param { base: 2 scale: 0.5 }")):
            self.check_opencv(kind, x, params)


class Normalisation(LayerTest):
    def test_batch_norm(self):
        x, mean, var = numbers(2, 3, 4, 5), numbers(3, seed=1), numbers(3, seed=2, low=0.5)
        for factor in (1.0, 999.98, 0.0):
            scale = 0 if factor == 0 else 1 / factor
            at = lambda v: v.reshape(3, 1, 1) * scale  # noqa: E731
            self.check("BatchNorm", x, (x - at(mean)) / np.sqrt(at(var) + 1e-5), "", [mean, var, np.array([factor])], rtol=1e-3, atol=1e-3 if scale == 0 else 1e-5)
        wanted = (x - mean.reshape(3, 1, 1)) / np.sqrt(var.reshape(3, 1, 1) + 0.01)
        self.check("BatchNorm", x, wanted, "batch_norm_param { use_global_stats: true eps: 0.01 } param { lr_mult: 0 } param { lr_mult: 0 } param { lr_mult: 0 }",
                   [mean, var, np.ones(1)])
        self.check("BatchNorm", x[:, :, 0, 0], wanted[:, :, 0, 0], "batch_norm_param { eps: 0.01 }", [mean, var, np.ones(1)])
        self.check_opencv("BatchNorm", x, "", [mean, var, np.array([2.5])])

    def test_batch_norm_of_the_batch(self):
        x = numbers(2, 3, 4, 5)
        mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        self.check("BatchNorm", x, (x - mean) / np.sqrt(var + 1e-5), "batch_norm_param { use_global_stats: false }", [np.zeros(3), np.zeros(3), np.zeros(1)])

    def test_batch_norm_of_other_forks(self):
        x, mean, var, gamma, beta = numbers(2, 3, 4, 5), numbers(3, seed=1), numbers(3, seed=2, low=0.5), numbers(3, seed=3), numbers(3, seed=4)
        at = lambda v: v.reshape(3, 1, 1)  # noqa: E731
        wanted = (x - at(mean)) / np.sqrt(at(var) + 1e-5) * at(gamma) + at(beta)
        self.check("BatchNorm", x, wanted, "batch_norm_param { scale_bias: true }", [mean, var, np.ones(1), gamma, beta])
        self.check("BN", x, wanted, "bn_param { frozen: true }", [gamma, beta, mean, var])
        self.check("BN", x, x * at(gamma) + at(beta), "bn_param { bn_mode: INFERENCE }", [gamma, beta])

    def test_scale(self):
        x, gamma, beta = numbers(2, 3, 4, 5), numbers(3, seed=3), numbers(3, seed=4)
        at = lambda v: v.reshape(3, 1, 1)  # noqa: E731
        self.check("Scale", x, x * at(gamma) + at(beta), "scale_param { bias_term: true }", [gamma, beta])
        self.check("Scale", x, x * at(gamma), "", [gamma])
        self.check_opencv("Scale", x, "scale_param { bias_term: true }", [gamma, beta])
        wide = numbers(3, 4, seed=5)
        self.check("Scale", x, x * wide[None, :, :, None], "scale_param { num_axes: 2 }", [wide])
        full = numbers(4, 5, seed=6)
        self.check("Scale", x, x * full, "scale_param { axis: 2 num_axes: -1 }", [full])
        self.check("Scale", x, x * 1.5, "scale_param { axis: 0 num_axes: 0 }", [np.array(1.5)])
        self.check("Scale", x, x * gamma[None, :, None, None], "scale_param { axis: -3 }", [gamma])

    def test_scale_by_a_bottom(self):
        x, s, bias = numbers(2, 3, 4, 5), numbers(2, 3, seed=1), numbers(2, 3, seed=2)
        self.check("Scale", [x, s], x * s[:, :, None, None], "scale_param { axis: 0 }")
        self.check("Scale", [x, s], x * s[:, :, None, None] + bias[:, :, None, None], "scale_param { axis: 0 bias_term: true }", [bias])
        self.check("Scale", [x, s[0]], x * s[0][:, None, None])
        self.check("Bias", [x, s], x + s[:, :, None, None], "bias_param { axis: 0 }")
        self.check("Axpy", [s.reshape(2, 3, 1, 1), x, x + 1], s[:, :, None, None] * x + x + 1)

    def test_bias(self):
        x, b = numbers(2, 3, 4, 5), numbers(3, seed=1)
        self.check("Bias", x, x + b[:, None, None], "", [b])
        wide = numbers(3, 4, seed=5)
        self.check("Bias", x, x + wide[None, :, :, None], "bias_param { num_axes: 2 }", [wide])

    def test_lrn(self):
        x = numbers(2, 7, 5, 6, low=-10, high=10)
        for size, alpha, beta, k in ((5, 0.0001, 0.75, 1), (3, 0.1, 0.5, 2), (1, 1, 0.75, 1)):
            squares = np.pad(x.astype(np.float64) ** 2, ((0, 0), (size // 2, size // 2), (0, 0), (0, 0)))
            total = sum(squares[:, i:i + 7] for i in range(size))
            self.check("LRN", x, x / (k + alpha / size * total) ** beta, f"lrn_param {{ local_size: {size} alpha: {alpha} beta: {beta} k: {k} }}")
        self.check_opencv("LRN", x, "lrn_param { local_size: 5 alpha: 0.01 beta: 0.75 }")
        self.check_opencv("LRN", x, "lrn_param { local_size: 3 alpha: 0.01 beta: 0.75 norm_region: WITHIN_CHANNEL }")
        square = np.pad(x.astype(np.float64) ** 2, ((0, 0), (0, 0), (1, 1), (1, 1)))
        mean = sum(square[:, :, i:i + 5, j:j + 6] for i in range(3) for j in range(3)) / 9
        self.check("LRN", x, x * (1 + 0.5 * mean) ** -0.75, "lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 norm_region: WITHIN_CHANNEL }")

    def test_mvn(self):
        x = numbers(2, 3, 4, 5)
        for across, variance in ((False, True), (True, True), (False, False)):
            axes = (1, 2, 3) if across else (2, 3)
            wanted = x - x.mean(axes, keepdims=True)
            if variance:
                wanted = wanted / (x.std(axes, keepdims=True) + 1e-9)
            params = f"mvn_param {{ across_channels: {str(across).lower()} normalize_variance: {str(variance).lower()} }}"
            self.check("MVN", x, wanted, params)
            self.check_opencv("MVN", x, params)

    def test_normalize(self):
        x, s = numbers(2, 3, 4, 5), numbers(3, seed=1)
        d = x.astype(np.float64)
        channel = d / np.sqrt((d ** 2).sum(1, keepdims=True) + 1e-10)
        self.check("Normalize", x, channel * s[:, None, None], "norm_param { across_spatial: false channel_shared: false scale_filler { type: 'constant' value: 20 } }", [s])
        everywhere = d / np.sqrt((d ** 2).sum((1, 2, 3), keepdims=True) + 1e-10)
        self.check("Normalize", x, everywhere * s[0], "", [s[:1]])
        self.check_opencv("Normalize", x, "norm_param { across_spatial: false channel_shared: false }", [s])


class Vectors(LayerTest):
    def test_inner_product(self):
        x = numbers(2, 3, 4, 5)
        w, b = numbers(6, 60, seed=1), numbers(6, seed=2)
        self.check("InnerProduct", x, x.reshape(2, 60) @ w.T + b, "inner_product_param { num_output: 6 }", [w, b])
        self.check("InnerProduct", x, x.reshape(2, 60) @ w.T, "inner_product_param { num_output: 6 bias_term: false }", [w])
        self.check("InnerProduct", x, x.reshape(2, 60) @ w.T + b, "inner_product_param { num_output: 6 transpose: true }", [np.ascontiguousarray(w.T), b])
        w = numbers(6, 20, seed=1)
        self.check("InnerProduct", x, x.reshape(2, 3, 20) @ w.T + b, "inner_product_param { num_output: 6 axis: 2 }", [w, b])
        w = numbers(6, 5, seed=1)
        self.check("InnerProduct", x, x @ w.T + b, "inner_product_param { num_output: 6 axis: -1 }", [w, b])
        self.check_opencv("InnerProduct", x, "inner_product_param { num_output: 6 }", [numbers(6, 60, seed=1), b])

    def test_eltwise(self):
        a, b, c = (numbers(2, 3, 4, 5, seed=i) for i in range(3))
        for inputs, params, wanted in (
                ([a, b], "", a + b), ([a, b, c], "", a + b + c), ([a, b], "eltwise_param { operation: PROD }", a * b),
                ([a, b, c], "eltwise_param { operation: PROD }", a * b * c), ([a, b], "eltwise_param { operation: MAX }", np.maximum(a, b)),
                ([a, b, c], "eltwise_param { operation: MAX }", np.maximum(np.maximum(a, b), c)),
                ([a, b], "eltwise_param { operation: SUM coeff: 1 coeff: -1 }", a - b), ([a, b, c], "eltwise_param { coeff: 0.5 coeff: 2 coeff: -1 }", 0.5 * a + 2 * b - c)):
            self.check("Eltwise", inputs, wanted, params)
            self.check_opencv("Eltwise", inputs, params)

    def test_softmax(self):
        x = numbers(2, 3, 4, 5)
        for axis in (1, 2, -1):
            e = np.exp(x - x.max(axis, keepdims=True))
            self.check("Softmax", x, e / e.sum(axis, keepdims=True), f"softmax_param {{ axis: {axis} engine: CAFFE }}")
        self.check_opencv("Softmax", x)

    def test_reduction(self):
        x = numbers(2, 3, 4, 5)
        flat = x.reshape(2, 3, 20).astype(np.float64)
        for op, wanted in (("SUM", flat.sum(-1)), ("MEAN", flat.mean(-1)), ("ASUM", np.abs(flat).sum(-1)), ("SUMSQ", (flat ** 2).sum(-1))):
            self.check("Reduction", x, 0.5 * wanted, f"reduction_param {{ operation: {op} axis: 2 coeff: 0.5 }}")
        self.check("Reduction", x, x.astype(np.float64).sum(), "")

    def test_arg_max(self):
        x = numbers(2, 3, 4, 5)
        x[0, 0, 0, 0] = x[0, 2, 3, 1] = 9  # of equal elements, Caffe returns the last one first
        flat = x.reshape(2, -1)
        order = np.array([sorted(range(60), key=lambda i, row=row: (row[i], i), reverse=True)[:3] for row in flat])
        self.check("ArgMax", x, order[:, None, :1, None].astype(np.float32))
        self.check("ArgMax", x, order[:, None, :, None].astype(np.float32), "argmax_param { top_k: 3 }")
        best = np.take_along_axis(flat, order, 1)
        self.check("ArgMax", x, np.stack([order.astype(np.float32), best], 1)[..., None], "argmax_param { top_k: 3 out_max_val: true }")
        self.check("ArgMax", x, x.argmax(1, keepdims=True).astype(np.float32), "argmax_param { axis: 1 }")
        self.check("ArgMax", x, np.sort(x, 1)[:, ::-1][:, :2], "argmax_param { axis: 1 top_k: 2 out_max_val: true }")
        self.check("ArgMax", flat, order[:, None, :1].astype(np.float32))

    def test_embed(self):
        x = np.array([[0, 3, 1], [2, 2, 0]], np.float32)
        w, b = numbers(4, 6, seed=1), numbers(6, seed=2)
        self.check("Embed", x, w[x.astype(int)] + b, "embed_param { input_dim: 4 num_output: 6 }", [w, b])
        self.check("Embed", x, w[x.astype(int)], "embed_param { input_dim: 4 num_output: 6 bias_term: false }", [w])
