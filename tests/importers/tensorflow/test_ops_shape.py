"""Operators on shapes, slices and padding, one test per operator."""

import numpy as np
import tensorflow as tf
from op_cases import C, OpTest, X, add_tests, b, f, i

I32, I64 = np.int32, np.int64


def ints(*values, dtype=I32):
    return C(np.array(values, dtype))


OPS = {
    "Shape": [{"input": X(f(2, 3))}, {"input": X(f(4)), "out_type": I64}],
    "ShapeN": [{"input": [X(f(2, 3)), X(f(4))]}],
    "Size": [{"input": X(f(2, 3))}, {"input": X(f(4)), "out_type": I64}],
    "Rank": [{"input": X(f(2, 3))}],
    "Reshape": [{"tensor": X(f(2, 6)), "shape": ints(3, -1)}, {"tensor": X(f(2, 6)), "shape": X(np.array([4, 3], I64))}, {"tensor": X(f(1, 1)), "shape": C(np.zeros(0, I32))},
                {"tensor": X(f(0, 6)), "shape": ints(0, 3)}],
    "ExpandDims": [{"input": X(f(2, 3)), "axis": C(I32(k))} for k in (0, 1, 2, -1, -3)],
    "Squeeze": [{"input": X(f(1, 2, 1)), "axis": [0]}, {"input": X(f(1, 2, 1)), "axis": [-1, 0]}, {"input": X(f(1, 2, 1)), "_static": True}],
    "Concat": [{"concat_dim": C(I32(1)), "values": [X(f(2, 1)), X(f(2, 3))]}],
    "ConcatV2": [{"values": [X(f(2, 1)), X(f(2, 3))], "axis": C(I32(-1))}, {"values": [X(i(2)), C(i(3)), X(i(1))], "axis": C(I64(0))}],
    "Pack": [{"values": [X(f(2, 3)), X(f(2, 3))], "axis": k} for k in (0, 1, 2, -1)] + [{"values": [X(I32(3)), C(I32(4))]}],
    "ParallelConcat": [{"values": [X(f(1, 3)), X(f(1, 3))], "shape": [2, 3], "_static": True}],
    "Unpack": [{"value": X(f(2, 3)), "num": 3, "axis": 1}, {"value": X(i(3)), "num": 3}, {"value": X(f(2, 3, 4)), "num": 2, "axis": -3}],
    "Split": [{"axis": C(I32(1)), "value": X(f(2, 6)), "num_split": 3}, {"axis": C(I32(-2)), "value": X(f(4, 3)), "num_split": 2}],
    "SplitV": [{"value": X(f(2, 6)), "size_splits": ints(1, 3, 2), "axis": C(I32(1)), "num_split": 3},
               {"value": X(f(7, 2)), "size_splits": ints(2, -1, 1, dtype=I64), "axis": C(I32(0)), "num_split": 3},
               {"value": X(f(7, 2)), "size_splits": ints(-1, 2), "axis": C(I32(0)), "num_split": 2}],
    "Transpose": [{"x": X(f(2, 3, 4)), "perm": ints(2, 0, 1)}, {"x": X(f(2, 3, 4, 5)), "perm": ints(0, 3, 1, 2)}, {"x": X(f(2, 3, 4, 5)), "perm": ints(0, 2, 3, 1)}],
    "ConjugateTranspose": [{"x": X(f(2, 3)), "perm": ints(1, 0)}],
    "Fill": [{"dims": ints(2, 3), "value": C(np.float32(1.5))}, {"dims": X(np.array([2, 2], I32)), "value": X(I32(7))}],
    "ZerosLike": [{"x": X(f(2, 3))}, {"x": X(i(2))}],
    "OnesLike": [{"x": X(f(2, 3))}, {"x": X(b(2))}],
    "Range": [{"start": C(I32(1)), "limit": C(I32(9)), "delta": C(I32(3))}, {"start": C(I32(0)), "limit": X(I32(5)), "delta": C(I32(1))},
              {"start": X(np.float32(0)), "limit": C(np.float32(1)), "delta": C(np.float32(0.3))}],
    "LinSpace": [{"start": X(np.float32(1)), "stop": C(np.float32(5)), "num": C(I32(6))}, {"start": C(np.float32(1)), "stop": X(np.float32(5)), "num": C(I32(1))}],
    "Tile": [{"input": X(f(2, 3)), "multiples": ints(2, 1)}, {"input": X(i(2)), "multiples": X(np.array([3], I64))}],
    "BroadcastTo": [{"input": X(f(2, 1)), "shape": ints(4, 2, 3)}, {"input": X(I32(3)), "shape": X(np.array([2, 2], I64))}],
    "BroadcastArgs": [{"s0": X(np.array([2, 1, 3], I32)), "s1": X(np.array([4, 1], I32))}],
    "ReverseV2": [{"tensor": X(f(2, 3)), "axis": ints(1)}, {"tensor": X(f(2, 3)), "axis": ints(-1, 0)}],
    "Reverse": [{"tensor": X(f(2, 3)), "dims": C(np.array([True, False]))}],
    "Roll": [{"input": X(f(5)), "shift": C(I32(2)), "axis": C(I32(0))}, {"input": X(f(2, 5)), "shift": ints(-1, 7), "axis": ints(0, -1)}],
    "ReverseSequence": [{"input": X(f(2, 4, 3)), "seq_lengths": X(np.array([3, 2], I64)), "seq_dim": 1, "batch_dim": 0},
                        {"input": X(f(4, 2)), "seq_lengths": X(np.array([3, 4], I32)), "seq_dim": 0, "batch_dim": 1}],
    "Bitcast": [{"input": X(f(3)), "type": I32}, {"input": X(i(3, dtype=np.int8)), "type": np.uint8}],
    "Slice": [{"input": X(f(4, 5)), "begin": ints(1, 0), "size": ints(2, -1)}, {"input": X(f(4, 5)), "begin": X(np.array([1, 2], I32)), "size": X(np.array([-1, 3], I32))},
              {"input": X(f(4)), "begin": ints(0, dtype=I64), "size": ints(0, dtype=I64)}],
    "Pad": [{"input": X(f(2, 3)), "paddings": C(np.array([[1, 0], [2, 3]], I32))}, {"input": X(f(2, 3)), "paddings": X(np.array([[1, 0], [2, 3]], I64))}],
    "PadV2": [{"input": X(f(2, 3)), "paddings": C(np.array([[1, 0], [2, 3]], I32)), "constant_values": C(np.float32(7))}],
    "MirrorPad": [{"input": X(f(3, 4)), "paddings": C(np.array([[1, 2], [2, 1]], I32)), "mode": mode} for mode in ("REFLECT", "SYMMETRIC")],
    "SpaceToBatchND": [{"input": X(f(2, 4, 6, 3)), "block_shape": ints(2, 3), "paddings": C(np.array([[1, 1], [0, 3]], I32))}],
    "SpaceToBatch": [{"input": X(f(2, 4, 6, 3)), "paddings": C(np.array([[1, 1], [0, 2]], I32)), "block_size": 2}],
    "BatchToSpaceND": [{"input": X(f(12, 4, 6, 3)), "block_shape": ints(2, 3), "crops": C(np.array([[1, 1], [0, 3]], I32))}, {"input": X(f(4, 3)), "block_shape": ints(2), "crops": C(np.array([[0, 1]], I32))}],
    "BatchToSpace": [{"input": X(f(8, 4, 6, 3)), "crops": C(np.array([[1, 1], [0, 2]], I32)), "block_size": 2}],
    "DepthToSpace": [{"input": X(f(2, 3, 4, 8)), "block_size": 2}],
    "SpaceToDepth": [{"input": X(f(2, 4, 6, 3)), "block_size": 2}],
}


def strided(*spec):
    """A slice in Python's notation."""
    return lambda input: input[spec]  # noqa: A002


SLICES = [(slice(1, 3),), (slice(None), 1), (-1,), (slice(None, None, 2), slice(3, None, -1)), (..., 2), (tf.newaxis, slice(1), ..., tf.newaxis),
          (slice(-3, -1), slice(None, None, -2)), (0, slice(None), tf.newaxis), (slice(1, 100), slice(-100, 2))]
OPS["StridedSlice"] = [{"input": X(f(4, 5, 3)), "_call": strided(*s)} for s in SLICES]
OPS["StridedSlice"] += [{"input": X(f(4, 5)), "at": X(I32(2)), "_call": lambda input, at: input[at]},  # noqa: A002
                        {"input": X(f(4, 5)), "at": X(I32(3)), "_call": lambda input, at: input[:, 1:at]},  # noqa: A002
                        {"input": X(f(4, 5)), "_call": lambda input: tf.shape(input)[-1] + tf.cast(input[0, 0] * 0, tf.int32)}]  # noqa: A002


class Shapes(OpTest):
    pass


add_tests(Shapes, OPS)
