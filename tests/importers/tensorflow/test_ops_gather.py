"""Operators that select, write or sort elements, segments and matrices, one test per operator."""

import numpy as np
import tensorflow as tf
from op_cases import C, OpTest, X, add_tests, b, f, i

I32, I64 = np.int32, np.int64


def x(*values, dtype=I32):
    return X(np.array(values, dtype))


UNIQUE = x(4, 1, 4, 2, 1, 9)
PSD = f(2, 3, 3) + 3 * np.eye(3, dtype=np.float32)

OPS = {
    "Gather": [{"params": X(f(5, 3)), "indices": X(i(4, low=0, high=5))}, {"params": X(f(5)), "indices": X(i(2, 2, low=0, high=5, dtype=I64))}],
    "GatherV2": [{"params": X(f(5, 3)), "indices": X(i(4, low=0, high=3)), "axis": C(I32(1))}, {"params": X(f(5, 3)), "indices": X(I32(2)), "axis": C(I32(0))},
                 {"params": X(f(2, 5, 3)), "indices": X(i(2, 4, low=0, high=5)), "axis": C(I32(1)), "batch_dims": 1},
                 {"params": X(f(2, 5, 3, 4)), "indices": X(i(2, 6, low=0, high=4)), "axis": C(I32(3)), "batch_dims": 1},
                 {"params": X(f(2, 5, 3, 4)), "indices": X(i(2, 6, 2, low=0, high=3)), "axis": C(I32(2)), "batch_dims": 1}],
    "GatherNd": [{"params": X(f(4, 5, 3)), "indices": X(i(2, 2, low=0, high=4))}, {"params": X(f(4, 5)), "indices": X(i(3, 2, 2, low=0, high=4, dtype=I64))}],
    "OneHot": [{"indices": X(i(4, low=-1, high=5)), "depth": C(I32(4)), "on_value": C(np.float32(2)), "off_value": C(np.float32(-1)), "axis": a} for a in (-1, 0)] +
              [{"indices": X(i(2, 3, low=0, high=3, dtype=I64)), "depth": C(I32(3)), "on_value": C(I32(1)), "off_value": C(I32(0)), "axis": 1}],
    "Where": [{"condition": X(b(3, 4))}, {"condition": X(np.array([0, 1, 0, 2], np.float32))}],
    "Unique": [{"x": UNIQUE}, {"x": UNIQUE, "out_idx": I64}],
    "UniqueV2": [{"x": UNIQUE, "axis": C(np.zeros(0, I32))}, {"x": X(np.array([[1, 2], [3, 4], [1, 2]], I32)), "axis": C(np.array([0], I32))}],
    "UniqueWithCounts": [{"x": UNIQUE}],
    "UniqueWithCountsV2": [{"x": UNIQUE, "axis": C(np.zeros(0, I32))}],
    "ScatterNd": [{"indices": X(np.array([[0], [2], [0]], I32)), "updates": X(f(3, 4)), "shape": C(np.array([4, 4], I32))}],
    "InvertPermutation": [{"x": x(2, 0, 1, 3)}, {"x": x(1, 0, dtype=I64)}],
    "DynamicPartition": [{"data": X(f(5, 2)), "partitions": x(0, 1, 0, 2, 1), "num_partitions": 3}, {"data": X(f(2, 2)), "partitions": X(np.array([[0, 1], [1, 0]], I32)), "num_partitions": 2}],
    "DynamicStitch": [{"indices": [x(0, 2), x(1, 3)], "data": [X(f(2, 3)), X(f(2, 3))]}, {"indices": [X(I32(1)), X(np.array([[0, 2]], I32))], "data": [X(f(3)), X(f(1, 2, 3))]}],
    "ListDiff": [{"x": x(1, 2, 3, 4, 5), "y": x(2, 4)}],
    "LowerBound": [{"sorted_inputs": X(np.array([[1, 2, 2, 5]], np.float32)), "values": X(np.array([[0, 2, 5, 9]], np.float32))}],
    "Bucketize": [{"input": X(f(3, 4)), "boundaries": [-0.5, 0.0, 0.5]}, {"input": X(i(4)), "boundaries": [0.0, 3.0]}],
    "Bincount": [{"arr": X(i(9, low=0, high=5)), "size": C(I32(6)), "weights": C(np.zeros(0, np.float32))}, {"arr": X(i(4, low=0, high=9)), "size": C(I32(5)), "weights": X(f(4))}],
    "DenseBincount": [{"input": X(i(9, low=0, high=5)), "size": C(I32(6)), "weights": C(np.zeros(0, np.float32))},
                      {"input": X(i(2, 5, low=0, high=4)), "size": C(I32(4)), "weights": C(np.zeros(0, np.float32)), "binary_output": True},
                      {"input": X(i(2, 5, low=0, high=4)), "size": C(I32(4)), "weights": X(f(2, 5))}],
    "SparseToDense": [{"sparse_indices": X(np.array([[0, 1], [2, 0]], I32)), "output_shape": C(np.array([3, 2], I32)), "sparse_values": X(f(2)), "default_value": C(np.float32(5))},
                      {"sparse_indices": x(1, 3), "output_shape": C(np.array([4], I32)), "sparse_values": C(np.float32(2)), "default_value": C(np.float32(0))}],
}
OPS["ParallelDynamicStitch"] = OPS["DynamicStitch"]
OPS["UpperBound"] = OPS["LowerBound"]
SCATTER = [{"tensor": X(f(4, 3)), "indices": X(np.array([[0], [2]], I32)), "updates": X(f(2, 3))}, {"tensor": X(i(4)), "indices": X(np.array([[0], [3]], I64)), "updates": X(i(2))}]
OPS |= {f"TensorScatter{k}": SCATTER for k in ("Update", "Add", "Sub", "Max", "Min")}
OPS["ScatterNdNonAliasingAdd"] = [{"input": X(f(4, 3)), "indices": X(np.array([[0], [0]], I32)), "updates": X(f(2, 3))}]

SORTED = [{"data": X(f(5, 2)), "segment_ids": x(0, 0, 1, 3, 3)}, {"data": X(i(4)), "segment_ids": x(0, 1, 1, 2, dtype=I64)}]
OPS |= {f"Segment{k}": SORTED for k in ("Sum", "Prod", "Max", "Min")}
OPS["SegmentMean"] = SORTED[:1]
UNSORTED = [{"data": X(f(5, 2)), "segment_ids": x(3, 0, 1, 0, 3), "num_segments": C(I32(5))}, {"data": X(i(2, 3)), "segment_ids": X(np.array([[0, -1, 1], [1, 1, 0]], I32)), "num_segments": C(I32(3))}]
OPS |= {f"UnsortedSegment{k}": UNSORTED for k in ("Sum", "Prod", "Max", "Min")}
BOUNDED = [{"data": X(np.array([[7], [3], [9]], t)), "segment_ids": x(0, 2, 0), "num_segments": C(I32(3))} for t in (np.uint8, np.uint16, np.int16, np.float16)]
# Segment 1 is empty, and the elements are the limits of the type, which a float64 does not represent.
EXACT = [{"data": X(np.array([lowest, largest], t)), "segment_ids": x(0, 2), "num_segments": C(I32(3))}
         for t in (np.int64, np.uint64, np.uint32) for lowest, largest in [(np.iinfo(t).min + 1, np.iinfo(t).max)]]
OPS |= {f"UnsortedSegment{k}": UNSORTED + BOUNDED + EXACT for k in ("Max", "Min")}
SPARSE = {"data": X(f(6, 2)), "indices": x(5, 0, 2, 1), "segment_ids": x(0, 0, 1, 3)}
OPS |= {f"SparseSegment{k}": [SPARSE] for k in ("Sum", "Mean", "SqrtN")}
OPS |= {f"SparseSegment{k}WithNumSegments": [SPARSE | {"num_segments": C(I32(5))}] for k in ("Sum", "Mean", "SqrtN")}

MATRIX = [{"input": X(f(2, 3, 3))}, {"input": X(f(4, 2))}]
OPS |= {
    "MatrixBandPart": [{"input": X(f(2, 4, 5)), "num_lower": C(I64(lo)), "num_upper": C(I64(up))} for lo, up in ((0, -1), (-1, 0), (1, 2), (-1, -1))],
    "MatrixDiag": [{"diagonal": X(f(2, 3))}, {"diagonal": X(f(3))}],
    "MatrixDiagPart": MATRIX,
    "MatrixSetDiag": [{"input": X(f(2, 3, 3)), "diagonal": X(f(2, 3))}, {"input": X(f(4, 2)), "diagonal": X(f(2))}],
    "Diag": [{"diagonal": X(f(3))}, {"diagonal": X(f(2, 3))}],
    "DiagPart": [{"input": X(f(3, 3))}, {"input": X(f(2, 3, 2, 3))}],
    "MatrixInverse": [{"input": X(PSD)}, {"input": X(PSD), "adjoint": True}],
    "MatrixDeterminant": [{"input": X(PSD)}],
    "MatrixSolve": [{"matrix": X(PSD), "rhs": X(f(2, 3, 2))}],
    "MatrixTriangularSolve": [{"matrix": X(PSD), "rhs": X(f(2, 3, 2)), "lower": lower} for lower in (True, False)],
    "Cross": [{"a": X(f(2, 3)), "b": X(f(2, 3))}],
}
for version in ("V2", "V3"):
    OPS[f"MatrixDiag{version}"] = [{"diagonal": X(f(2, 3)), "k": C(I32(0)), "num_rows": C(I32(-1)), "num_cols": C(I32(-1)), "padding_value": C(np.float32(0))}]
    OPS[f"MatrixDiagPart{version}"] = [{"input": X(f(2, 3, 4)), "k": C(I32(0)), "padding_value": C(np.float32(0))}]
    OPS[f"MatrixSetDiag{version}"] = [{"input": X(f(2, 3, 4)), "diagonal": X(f(2, 3)), "k": C(I32(0))}]


class Gather(OpTest):
    def test_ResourceGather(self):
        table = f(6, 3)
        module = tf.Module()
        module.table = tf.Variable(table)
        self.check_saved(module, lambda k: tf.raw_ops.ResourceGather(resource=module.table.handle, indices=k, dtype=tf.float32), i(4, low=0, high=6))
        self.check_saved(module, lambda k: tf.raw_ops.ResourceGatherNd(resource=module.table.handle, indices=k[:, None], dtype=tf.float32), i(4, low=0, high=6))
        self.check_saved(module, lambda k: tf.raw_ops.VariableShape(input=module.table.handle) + k[0], i(4, low=0, high=6))


add_tests(Gather, OPS)
