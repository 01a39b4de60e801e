"""Operators of neural networks: convolutions, pooling, normalisation, products and reductions, one test per operator."""

import pathlib
import tempfile

import numpy as np
from op_cases import C, OpTest, X, add_tests, b, f, i, run_model, tf, v1

I32, I64 = np.int32, np.int64
IMAGE = X(f(2, 9, 10, 4))

OPS = {
    "Conv2D": [{"input": IMAGE, "filter": C(f(3, 3, 4, 5)), "strides": s, "padding": p, "dilations": d}
               for s, p, d in (([1, 1, 1, 1], "SAME", [1, 1, 1, 1]), ([1, 2, 3, 1], "SAME", [1, 1, 1, 1]), ([1, 2, 2, 1], "VALID", [1, 1, 1, 1]), ([1, 1, 1, 1], "SAME", [1, 2, 2, 1]))] +
              [{"input": IMAGE, "filter": C(f(3, 3, 2, 6)), "strides": [1, 1, 1, 1], "padding": "VALID", "_static": True},
               {"input": IMAGE, "filter": C(f(3, 2, 4, 6)), "strides": [1, 2, 2, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 3, 0, 0]},
               {"input": X(f(1, 5, 5, 3)), "filter": X(f(2, 2, 3, 2)), "strides": [1, 1, 1, 1], "padding": "SAME", "_static": True}],
    "Conv3D": [{"input": X(f(1, 5, 6, 7, 2)), "filter": C(f(3, 2, 3, 2, 4)), "strides": [1, 2, 1, 1, 1], "padding": p} for p in ("SAME", "VALID")],
    "DepthwiseConv2dNative": [{"input": IMAGE, "filter": C(f(3, 3, 4, m)), "strides": s, "padding": p} for m, s, p in ((1, [1, 1, 1, 1], "SAME"), (2, [1, 2, 2, 1], "VALID"), (3, [1, 2, 2, 1], "SAME"))],
    "Conv2DBackpropInput": [{"input_sizes": C(np.array(z, I32)), "filter": C(f(k, k, 3, 4)), "out_backprop": IMAGE, "strides": [1, s, s, 1], "padding": p}
                            for z, k, s, p in (([2, 18, 20, 3], 3, 2, "SAME"), ([2, 17, 19, 3], 3, 2, "SAME"), ([2, 19, 21, 3], 3, 2, "VALID"), ([2, 20, 22, 3], 4, 2, "VALID"), ([2, 18, 20, 3], 2, 2, "SAME"), ([2, 27, 30, 3], 2, 3, "SAME"))],
    "Conv3DBackpropInputV2": [{"input_sizes": C(np.array([1, 6, 8, 10, 2], I32)), "filter": C(f(3, 3, 3, 2, 4)), "out_backprop": X(f(1, 3, 4, 5, 4)), "strides": [1, 2, 2, 2, 1], "padding": "SAME"}],
    "DepthwiseConv2dNativeBackpropInput": [{"input_sizes": C(np.array([2, 18, 20, 2], I32)), "filter": C(f(3, 3, 2, 2)), "out_backprop": IMAGE, "strides": [1, 2, 2, 1], "padding": "SAME", "_static": True}],
    "MaxPool": [{"input": IMAGE, "ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": p} for p in ("SAME", "VALID")],
    "AvgPool": [{"value": IMAGE, "ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": p} for p in ("SAME", "VALID")],
    "MaxPool3D": [{"input": X(f(1, 5, 6, 7, 2)), "ksize": [1, 2, 3, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}],
    "AvgPool3D": [{"input": X(f(1, 5, 6, 7, 2)), "ksize": [1, 2, 3, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}],
    "MaxPoolV2": [{"input": IMAGE, "ksize": C(np.array([1, 2, 2, 1], I32)), "strides": C(np.array([1, 2, 2, 1], I32)), "padding": "VALID"}],
    "MaxPoolWithArgmax": [{"input": IMAGE, "ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "VALID", "include_batch_in_index": w} for w in (False, True)],
    "BiasAdd": [{"value": X(f(2, 3, 4, 5)), "bias": X(f(5))}, {"value": X(f(2, 5)), "bias": C(f(5))}, {"value": X(f(2, 3, 4)), "bias": X(f(3)), "data_format": "NCHW"}],
    "BiasAddV1": [{"value": X(f(2, 5)), "bias": X(f(5))}],
    "LRN": [{"input": IMAGE, "depth_radius": 1, "bias": 1.5, "alpha": 0.3, "beta": 0.6}, {"input": IMAGE}],
    "Softmax": [{"logits": X(f(2, 5))}, {"logits": X(f(2, 3, 5))}],
    "LogSoftmax": [{"logits": X(f(2, 5))}],
    "L2Loss": [{"t": X(f(3, 4))}],
    "SoftmaxCrossEntropyWithLogits": [{"features": X(f(3, 4)), "labels": X(np.eye(4, dtype=np.float32)[[1, 3, 0]])}],
    "SparseSoftmaxCrossEntropyWithLogits": [{"features": X(f(3, 4)), "labels": X(np.array([1, 3, 0], I32))}],
    "MatMul": [{"a": X(f(2, 3)), "b": C(f(3, 4))}, {"a": X(f(3, 2)), "b": X(f(4, 3)), "transpose_a": True, "transpose_b": True}, {"a": X(i(2, 3)), "b": X(i(3, 2))}],
    "BatchMatMul": [{"x": X(f(2, 3, 4)), "y": X(f(2, 4, 5))}],
    "BatchMatMulV2": [{"x": X(f(2, 1, 3, 4)), "y": X(f(3, 4, 5))}, {"x": X(f(2, 4, 3)), "y": X(f(2, 5, 4)), "adj_x": True, "adj_y": True}],
    "BatchMatMulV3": [{"x": X(f(2, 3, 4)), "y": X(f(2, 4, 5)), "Tout": np.float32}],
    "Einsum": [{"inputs": [X(f(2, 3, 4)), X(f(4, 5))], "equation": "abc,cd->abd"}, {"inputs": [X(f(2, 3, 4)), X(f(2, 3, 5))], "equation": "...ij,...ik->...jk"}, {"inputs": [X(f(3, 4))], "equation": "ij->ji"}],
    "CumulativeLogsumexp": [*({"x": X(f(3, 4)), "axis": C(I32(1)), "exclusive": e, "reverse": r} for e in (False, True) for r in (False, True)),
                            {"x": X(np.array([[-np.inf, -np.inf], [1, -np.inf]], np.float32)), "axis": C(I32(1))},
                            {"x": X(np.full((1, 2), np.finfo(np.float32).min)), "axis": C(I32(1))}],
    "ArgMax": [{"input": X(f(3, 4)), "dimension": C(I32(1))}, {"input": X(i(3, 4)), "dimension": C(I32(-2)), "output_type": I32}],
    "ArgMin": [{"input": X(f(3, 4)), "dimension": C(I32(0))}],
    "TopKV2": [{"input": X(f(3, 6)), "k": C(I32(2))}, {"input": X(i(9)), "k": X(I32(4))}],
    "NthElement": [{"input": X(f(3, 6)), "n": C(I32(2)), "reverse": r} for r in (False, True)],
    "InTopKV2": [{"predictions": X(f(4, 6)), "targets": X(np.array([0, 3, 5, 9], I32)), "k": C(I32(3))}],
    "InTopK": [{"predictions": X(f(4, 6)), "targets": X(np.array([0, 3, 5, 1], I32)), "k": 2}],
}
REDUCE = [{"input": X(f(2, 3, 4)), "axis": C(np.array(a, I32)), "keep_dims": k} for a, k in ((1, False), ([0, 2], True), ([], False), ([-1], False))] + [{"input": X(i(3, 4)), "axis": C(I32(0))}]
OPS |= {op: REDUCE for op in ("Sum", "Max", "Min", "Prod", "Mean")}
OPS["EuclideanNorm"] = REDUCE[:-1]
LOGICAL = [{"input": X(b(2, 3)), "axis": C(np.array(a, I32)), "keep_dims": k} for a, k in ((1, False), ([0, 1], True))]
OPS |= {op: LOGICAL for op in ("All", "Any")}
CUMULATIVE = [{"x": X(f(3, 4)), "axis": C(I32(a)), "exclusive": e, "reverse": r} for a, e, r in ((0, False, False), (1, True, False), (-1, False, True), (1, True, True))]
OPS |= {op: CUMULATIVE for op in ("Cumsum", "Cumprod")}

NORM = {"x": IMAGE, "scale": C(f(4, low=0.5)), "offset": C(f(4))}
STATS = {"mean": C(f(4)), "variance": C(f(4, low=0.5, high=2))}
for version in ("", "V2", "V3"):
    OPS[f"FusedBatchNorm{version}"] = [NORM | STATS | {"is_training": False, "epsilon": 0.01, "_outs": [0]},
                                       NORM | {"mean": C(np.zeros(0, np.float32)), "variance": C(np.zeros(0, np.float32)), "is_training": True, "_outs": [0, 1, 2], "_rtol": 1e-3}]


class Networks(OpTest):
    """TensorFlow 2.21 refuses some operators of old graphs, so their results are computed with numpy."""

    def run_old(self, op, inputs, attrs):
        definition = v1.GraphDef()
        definition.versions.producer = 6
        for name, array in inputs.items():
            node = definition.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = tf.as_dtype(array.dtype).as_datatype_enum
            node.attr["shape"].shape.CopyFrom(tf.TensorShape(array.shape).as_proto())
        node = definition.node.add(name="out", op=op, input=list(inputs))
        for name, value in attrs.items():
            field = "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "f"
            setattr(node.attr[name], field, value)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.pb")
            path.write_bytes(definition.SerializeToString())
            return run_model(path, inputs)

    def test_TopK(self):
        x = f(3, 6)
        got = self.run_old("TopK", {"x": x}, {"k": 2})
        order = np.argsort(-x, 1)[:, :2]
        np.testing.assert_array_equal(got["out:1"], order)
        np.testing.assert_array_equal(got["out"], np.take_along_axis(x, order, 1))

    def test_BatchNormWithGlobalNormalization(self):
        t, m, v, beta, gamma = f(2, 3, 4, 5), f(5), f(5, low=0.5), f(5), f(5)
        for scaled in (False, True):
            got = self.run_old("BatchNormWithGlobalNormalization", {"t": t, "m": m, "v": v, "beta": beta, "gamma": gamma},
                               {"variance_epsilon": 0.01, "scale_after_normalization": scaled})
            np.testing.assert_allclose(got["out"], (t - m) / np.sqrt(v + 0.01) * (gamma if scaled else 1) + beta, rtol=1e-4, atol=1e-5)


add_tests(Networks, OPS)
