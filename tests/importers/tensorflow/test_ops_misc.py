"""Gradients, cells, special functions and strings, one test per operator."""

import numpy as np
import tensorflow as tf
from op_cases import C, OpTest, X, add_tests, f, i

I32 = np.int32
OPS = {op: [{"gradients": X(f(3, 4)), "features": X(f(3, 4, low=-3, high=8))}] for op in ("ReluGrad", "Relu6Grad", "SoftplusGrad", "SoftsignGrad", "LeakyReluGrad")}
OPS |= {op: [{"gradients": X(f(3, 4)), "outputs": X(f(3, 4))}] for op in ("EluGrad", "SeluGrad")}
OPS |= {op: [{"y": X(f(3, 4, low=0.2)), "dy": X(f(3, 4))}] for op in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad")}
OPS["BiasAddGrad"] = [{"out_backprop": X(f(2, 3, 4))}, {"out_backprop": X(f(2, 3, 4)), "data_format": "NCHW"}]
CELL = {"x": X(f(2, 3)), "cs_prev": X(f(2, 4)), "h_prev": X(f(2, 4)), "w": C(f(7, 16)), "wci": C(f(4)), "wcf": C(f(4)), "wco": C(f(4)), "b": C(f(16))}
OPS["LSTMBlockCell"] = [CELL, CELL | {"use_peephole": True, "cell_clip": 0.5, "forget_bias": 0.3}]
OPS["GRUBlockCell"] = [{"x": X(f(2, 3)), "h_prev": X(f(2, 4)), "w_ru": C(f(7, 8)), "w_c": C(f(7, 4)), "b_ru": C(f(8)), "b_c": C(f(4))}]
OPS |= {op: [{"x": X(f(4, 2)), "i": X(np.array([0, 2], I32)), "v": X(f(2, 2)), "_call": lambda op=op, **k: getattr(tf.raw_ops, op)(**(k | {"x": k["x"] + 0}))}]
        for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub")}
OPS["Empty"] = [{"shape": X(np.array([2, 3], I32)), "dtype": np.float32, "init": True}]
OPS["SparseTensorDenseMatMul"] = [{"a_indices": X(np.array([[0, 1], [2, 0]], np.int64)), "a_values": X(f(2)), "a_shape": C(np.array([3, 2], np.int64)), "b": X(f(2, 4))},
                                  {"a_indices": X(np.array([[0, 1], [1, 0]], np.int64)), "a_values": X(f(2)), "a_shape": C(np.array([2, 3], np.int64)), "b": X(f(2, 4)), "adjoint_a": True}]
OPS["SparseMatMul"] = [{"a": X(f(2, 3)), "b": X(f(3, 4))}, {"a": X(f(3, 2)), "b": X(f(3, 4)), "transpose_a": True}]
OPS |= {op: [{"x": X(f(20, low=-9, high=9)), "_rtol": 1e-3}] for op in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e")}
OPS["Lgamma"] = [{"x": X(f(20, low=0.1, high=12)), "_atol": 2e-5}, {"x": X(np.array([-0.5, -1.3, -2.7, 0.2, 30], np.float32)), "_rtol": 1e-3}]
OPS["Digamma"] = [{"x": X(f(20, low=0.1, high=12)), "_atol": 2e-5}, {"x": X(np.array([-0.5, -1.3, -2.7, 0.2, 30], np.float32)), "_rtol": 1e-3}]

TEXT = X(np.array([["Ab c", "x1"], ["", "Zz"]]))
OPS |= {
    "StringJoin": [{"inputs": [TEXT, X(np.array([["1", "2"], ["3", "4"]]))], "separator": s} for s in ("", "-")],
    "StringLower": [{"input": TEXT}],
    "StringUpper": [{"input": TEXT}],
    "StaticRegexFullMatch": [{"input": TEXT, "pattern": "[A-Z].*"}],
    "RegexFullMatch": [{"input": TEXT, "pattern": C(np.array("x[0-9]+"))}],
    "StringToNumber": [{"string_tensor": X(np.array(["1.5", "-2", "3e2"]))}, {"string_tensor": X(np.array(["15", "-2"])), "out_type": np.int64}],
    "AsString": [{"input": X(i(3))}, {"input": X(i(3, dtype=np.int64))}],
}


def record(**features):
    lists = {"f": lambda v: {"float_list": tf.train.FloatList(value=v)}, "i": lambda v: {"int64_list": tf.train.Int64List(value=v)},
             "t": lambda v: {"bytes_list": tf.train.BytesList(value=v)}}
    return tf.train.Example(features=tf.train.Features(
        feature={name: tf.train.Feature(**lists[name[0]](values)) for name, values in features.items()})).SerializeToString()


RECORDS = C(np.array([record(f=[1.5, -2], i=[7], t=[b"owl"]), record(f=[3, 4], t=[b"\xc3\xa9"], f2=[1]), record(i=[2**40], f=[0, 5])], object))
NONE, KEYS = C(np.array([], "S1")), ["f", "i", "t"]
DENSE = {"serialized": RECORDS, "names": NONE, "sparse_types": [], "dense_shapes": [[2, 1], [1], [1]],
         "dense_defaults": [C(np.array([], np.float32)), C(np.array([-9], np.int64)), C(np.array([b"none"], object))]}
OPS["ParseExample"] = [DENSE | {"sparse_keys": [], "dense_keys": [C(np.array(key)) for key in KEYS],
                                "_call": lambda **k: tf.raw_ops.ParseExample(**k).dense_values}]
OPS["ParseExampleV2"] = [DENSE | {"sparse_keys": NONE, "ragged_keys": NONE, "dense_keys": C(np.array(KEYS)), "num_sparse": 0,
                                  "ragged_value_types": [], "ragged_split_types": [],
                                  "_call": lambda **k: tf.raw_ops.ParseExampleV2(**k).dense_values}]


class Misc(OpTest):
    pass


add_tests(Misc, OPS)
