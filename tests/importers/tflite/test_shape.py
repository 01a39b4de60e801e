"""Operators that move elements, against LiteRT."""

import unittest

import numpy as np
from op_case import OpCase
from writer import Tensor as T
from writer import const, options

Q8, Q8B = (0.05, -3), (0.03, 10)


class Shape(OpCase):
    def test_reshape(self):
        for shape in ([6], [3, 2], [-1], [2, -1], [1, 2, 3, 1]):
            self.check("RESHAPE", [T([2, 3]), const(shape)], [T([1])], options("ReshapeOptions", newShape=shape))
        self.check("RESHAPE", [T([2, 3])], [T([3, 2])], options("ReshapeOptions", newShape=[3, 2]))
        self.check("RESHAPE", [T([1, 1]), const([], "int32")], [T([])])
        self.check("RESHAPE", [T([2, 3], "int8", q=Q8), const([6])], [T([6], "int8", q=Q8)])

    def test_squeeze(self):
        for dims in ([], [0], [1], [-1], [0, 3]):
            self.check("SQUEEZE", [T([1, 1, 3, 1])], [T([3])], options("SqueezeOptions", squeezeDims=dims))

    def test_expand_dims(self):
        for axis in (0, 1, 2, -1, -2):
            self.check("EXPAND_DIMS", [T([2, 3]), const(axis)], [T([1])])
            self.check("EXPAND_DIMS", [T([2, 3]), const([axis])], [T([1])])

    def test_transpose(self):
        for perm in ([1, 0], ):
            self.check("TRANSPOSE", [T([2, 3]), const(perm)], [T([1])])
        for perm in ([0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [0, 1, 2, 3], [1, 0, 3, 2]):
            self.check("TRANSPOSE", [T([2, 3, 4, 5]), const(perm)], [T([1])])
            self.check("TRANSPOSE", [T([2, 3, 4, 5], "int8", q=Q8), const(perm)], [T([1], "int8", q=Q8)])
        self.check("TRANSPOSE", [T([2, 1, 3, 2, 2]), const([4, 0, 2, 1, 3])], [T([1])])

    def test_shape_and_rank(self):
        for dtype in ("int32", "int64"):
            self.check("SHAPE", [T([2, 3, 4])], [T([3], dtype)], options("ShapeOptions", outType={"int32": 2, "int64": 4}[dtype]))
        self.check("RANK", [T([2, 3, 4])], [T([], "int32")])

    def test_fill(self):
        for dtype in ("float32", "int32", "int64", "bool"):
            self.check("FILL", [const([2, 3]), T([], dtype)], [T([2, 3], dtype)])

    def test_broadcast(self):
        for dtype in ("float32", "int32"):
            self.check("BROADCAST_TO", [T([2, 1], dtype), const([3, 2, 4])], [T([1], dtype)], version=2)
        self.check("BROADCAST_ARGS", [const([2, 1, 3]), const([4, 1])], [T([3], "int32")])
        self.check("BROADCAST_ARGS", [T([3], "int32"), T([1], "int32")], [T([3], "int32")], feeds=[np.array([2, 1, 3], "int32"), np.array([3], "int32")])

    def test_range(self):
        self.check("RANGE", [const(1), const(10), const(3)], [T([3], "int32")])
        self.check("RANGE", [T([], "int32"), T([], "int32"), T([], "int32")], [T([3], "int32")], feeds=[np.int32(9), np.int32(1), np.int32(-2)])
        self.check("RANGE", [const(0.5, "float32"), const(3, "float32"), const(0.7, "float32")], [T([3])])

    def test_tile(self):
        for dtype in ("float32", "int32", "bool"):
            self.check("TILE", [T([2, 3], dtype), const([2, 3])], [T([1], dtype)])
        self.check("TILE", [T([2, 3]), const([1, 4], "int64")], [T([1])])

    def test_bitcast(self):
        self.check("BITCAST", [T([2, 3])], [T([2, 3], "int32")])
        self.check("BITCAST", [T([2, 3], "int32")], [T([2, 3, 4], "uint8")])
        self.check("BITCAST", [T([2, 4], "uint8")], [T([2], "int32")])

    def test_concatenation(self):
        for axis in (0, 1, 2, 3, -1):
            for dtype in ("float32", "int32", "int64"):
                self.check("CONCATENATION", [T([1, 2, 3, 4], dtype), T([1, 2, 3, 4], dtype), T([1, 2, 3, 4], dtype)], [T([1], dtype)],
                           options("ConcatenationOptions", axis=axis))
        self.check("CONCATENATION", [T([1, 4], "int8", q=Q8), T([1, 4], "int8", q=Q8)], [T([1], "int8", q=Q8)], options("ConcatenationOptions", axis=1))
        self.check("CONCATENATION", [T([1, 4], "uint8", q=(.1, 3)), T([1, 4], "uint8", q=(.2, 30))], [T([1, 8], "uint8", q=(.2, 10))],
                   options("ConcatenationOptions", axis=1))

    def test_pack_and_unpack(self):
        for axis in (0, 1, 2, -1):
            self.check("PACK", [T([2, 3]), T([2, 3])], [T([1])], options("PackOptions", valuesCount=2, axis=axis))
        for axis in (0, 1, -1):
            n = 2 if axis == 0 else 3
            self.check("UNPACK", [T([2, 3])], [T([1]) for _ in range(n)], options("UnpackOptions", num=n, axis=axis))

    def test_split(self):
        for axis in (0, 1, -1):
            self.check("SPLIT", [const(axis), T([4, 6])], [T([1]), T([1])], options("SplitOptions", numSplits=2))
        self.check("SPLIT_V", [T([4, 6]), const([1, 2, 3]), const(1)], [T([1]), T([1]), T([1])], options("SplitVOptions", numSplits=3))
        self.check("SPLIT_V", [T([4, 6]), const([1, -1]), const(0)], [T([1]), T([1])], options("SplitVOptions", numSplits=2))

    def test_pad(self):
        for dtype in ("float32", "int32", "int64"):
            self.check("PAD", [T([1, 2, 3, 4], dtype), const([[0, 0], [1, 2], [3, 0], [0, 1]])], [T([1], dtype)])
            self.check("PADV2", [T([2, 3], dtype), const([[1, 0], [0, 2]]), const(7, dtype)], [T([1], dtype)])
        self.check("PAD", [T([1, 2, 3, 4], "int8", q=Q8), const([[0, 0], [1, 2], [3, 0], [0, 1]])], [T([1], "int8", q=Q8)])
        self.check("PADV2", [T([2, 3], "int8", q=Q8), const([[1, 0], [0, 2]]), const(7, "int8", q=Q8)], [T([1], "int8", q=Q8)])
        self.check("PAD", [T([2, 3]), T([2, 2], "int32")], [T([1])], feeds=[np.ones([2, 3], "float32"), np.array([[1, 2], [0, 3]], "int32")])

    def test_mirror_pad(self):
        for mode in (0, 1):
            self.check("MIRROR_PAD", [T([3, 4]), const([[1, 2], [2, 1]])], [T([1])], options("MirrorPadOptions", mode=mode))
        self.check("MIRROR_PAD", [T([1, 3, 4, 2], "int8", q=Q8), const([[0, 0], [1, 2], [2, 1], [0, 0]])], [T([1], "int8", q=Q8)],
                   options("MirrorPadOptions", mode=1))

    def test_slice(self):
        for dtype in ("float32", "int32", "bool"):
            self.check("SLICE", [T([3, 4, 5], dtype), const([1, 0, 2]), const([2, -1, 2])], [T([2, 4, 2], dtype)])
        self.check("SLICE", [T([3, 4]), T([2], "int32"), T([2], "int32")], [T([2, 3])],
                   feeds=[np.arange(12, dtype="float32").reshape(3, 4), np.array([1, 1], "int32"), np.array([2, -1], "int32")])

    def strided(self, shape, begin, end, step, dtype="float32", **masks):
        self.check("STRIDED_SLICE", [T(shape, dtype), const(begin), const(end), const(step)], [T([1], dtype)], options("StridedSliceOptions", **masks))

    def test_strided_slice(self):
        self.strided([4, 5, 6], [1, 0, 2], [3, 5, 6], [1, 2, 3])
        self.strided([4, 5, 6], [-1, -2, 2], [-4, -5, 0], [-1, -1, -1])
        self.strided([4, 5, 6], [1, 1, 1], [2, 2, 2], [1, 1, 1], beginMask=1, endMask=5)
        self.strided([4, 5, 6], [1, 1, 1], [2, 2, 2], [1, 1, 1], shrinkAxisMask=2)
        self.strided([4, 5, 6], [-1, 0, -2], [0, 5, 0], [1, 1, 1], shrinkAxisMask=5, endMask=2)
        self.strided([4, 5, 6], [0, 1], [2, 3], [1, 1], ellipsisMask=1)
        self.strided([4, 5, 6], [1, 0, 1], [2, 0, 3], [1, 1, 1], newAxisMask=2)
        self.strided([4, 5], [3, 4], [0, 0], [-1, -2], beginMask=3, endMask=3)
        self.strided([4, 5], [1, 2], [2, 2], [1, 1], offset=True)
        self.strided([7], [0], [100], [2], "int32")
        self.check("STRIDED_SLICE", [T([4, 5]), T([2], "int32"), T([2], "int32"), const([1, 1])], [T([1])], options("StridedSliceOptions", shrinkAxisMask=1),
                   feeds=[np.arange(20, dtype="float32").reshape(4, 5), np.array([-1, 1], "int32"), np.array([0, 4], "int32")])

    def test_depth_and_space(self):
        self.check("DEPTH_TO_SPACE", [T([1, 2, 3, 8])], [T([1])], options("DepthToSpaceOptions", blockSize=2))
        self.check("SPACE_TO_DEPTH", [T([1, 4, 6, 3])], [T([1])], options("SpaceToDepthOptions", blockSize=2))
        self.check("SPACE_TO_DEPTH", [T([1, 4, 6, 3], "int8", q=Q8)], [T([1], "int8", q=Q8)], options("SpaceToDepthOptions", blockSize=2))

    def test_space_and_batch(self):
        self.check("SPACE_TO_BATCH_ND", [T([1, 4, 6, 3]), const([2, 3]), const([[0, 0], [0, 0]])], [T([1])])
        self.check("SPACE_TO_BATCH_ND", [T([2, 3, 6, 3]), const([2, 3]), const([[1, 0], [2, 1]])], [T([1])])
        self.check("SPACE_TO_BATCH_ND", [T([2, 4, 3]), const([2]), const([[0, 2]])], [T([1])])
        self.check("SPACE_TO_BATCH_ND", [T([1, 3, 5, 2], "int8", q=Q8), const([2, 2]), const([[1, 0], [0, 1]])], [T([1], "int8", q=Q8)])
        self.check("BATCH_TO_SPACE_ND", [T([6, 2, 3, 2]), const([2, 3]), const([[0, 0], [0, 0]])], [T([1])])
        self.check("BATCH_TO_SPACE_ND", [T([12, 2, 3, 2]), const([2, 3]), const([[1, 0], [0, 2]])], [T([1])])

    def test_reverse(self):
        self.check("REVERSE_V2", [T([2, 3, 4]), const([1])], [T([1])])
        self.check("REVERSE_V2", [T([2, 3, 4], "int32"), const([0])], [T([1], "int32")])
        self.check("REVERSE_SEQUENCE", [T([3, 4, 2]), const([2, 4, 1])], [T([1])], options("ReverseSequenceOptions", seqDim=1, batchDim=0))
        self.check("REVERSE_SEQUENCE", [T([2, 4, 3]), const([2, 4, 1])], [T([1])], options("ReverseSequenceOptions", seqDim=1, batchDim=2))


class Indices(OpCase):
    def test_gather(self):
        for axis in (0, 1, 2, -1):
            for dtype in ("float32", "int32", "int64"):
                self.check("GATHER", [T([3, 3, 3], dtype), const([[0, 2], [1, 1]])], [T([1], dtype)], options("GatherOptions", axis=axis))
        self.check("GATHER", [T([2, 4, 3]), const([[0, 2], [3, 1]])], [T([1])], options("GatherOptions", axis=1, batchDims=1))
        self.check("GATHER", [T([2, 4, 5]), const([[0, 2], [3, 1]])], [T([1])], options("GatherOptions", axis=2, batchDims=1))
        self.check("GATHER", [T([3, 2], "int8", q=Q8), const([2, 0])], [T([1], "int8", q=Q8)], options("GatherOptions", axis=0))

    def test_gather_nd(self):
        self.check("GATHER_ND", [T([3, 4, 5]), const([[0, 1], [2, 3]])], [T([1])])
        self.check("GATHER_ND", [T([3, 4]), const([[[0, 1]], [[2, 3]]], "int64")], [T([1])])

    def test_scatter_nd(self):
        self.check("SCATTER_ND", [const([[1], [3], [1]]), T([3, 2]), const([5, 2])], [T([1])])
        self.check("SCATTER_ND", [const([[1, 0], [3, 1]]), T([2], "int32"), const([5, 2])], [T([1], "int32")])

    def test_sparse_to_dense(self):
        self.check("SPARSE_TO_DENSE", [const([[0, 1], [2, 2]]), const([3, 4]), T([2]), const(-1, "float32")], [T([1])], options("SparseToDenseOptions"))
        self.check("SPARSE_TO_DENSE", [const([1, 3]), const([5]), T([], "int32"), const(9)], [T([1], "int32")], options("SparseToDenseOptions"))

    def test_one_hot(self):
        for axis in (-1, 0, 1):
            self.check("ONE_HOT", [T([4], "int32", low=-1, high=5), const(5), const(2.0, "float32"), const(-1.0, "float32")], [T([1])],
                       options("OneHotOptions", axis=axis))
        self.check("ONE_HOT", [T([2, 3], "int64", low=0, high=3), const(4), const(1), const(0)], [T([1], "int32")], options("OneHotOptions", axis=-1))

    def test_where(self):
        self.check("WHERE", [T([3, 4], "bool")], [T([1], "int64")])
        self.check("WHERE", [T([7])], [T([1], "int64")])

    def test_unique(self):
        for out in (2, 4):
            self.check("UNIQUE", [T([12], "int32", low=0, high=5)], [T([1], "int32"), T([1], "int32" if out == 2 else "int64")], options("UniqueOptions", idxOutType=out))
        self.check("UNIQUE", [T([6])], [T([1]), T([1], "int32")], options("UniqueOptions", idxOutType=2))

    def test_dynamic_update_slice(self):
        for start in ([1, 1], [5, -3]):
            self.check("DYNAMIC_UPDATE_SLICE", [T([4, 5]), T([2, 3]), const(start)], [T([4, 5])])
        self.check("DYNAMIC_UPDATE_SLICE", [T([4, 5], "int32"), T([1, 2], "int32"), T([2], "int32", low=0, high=3)], [T([4, 5], "int32")])

    def test_bucketize(self):
        self.check("BUCKETIZE", [T([3, 9])], [T([3, 9], "int32")], options("BucketizeOptions", boundaries=[-1.0, 0.0, 0.5, 1.5]))
        self.check("BUCKETIZE", [T([3, 9], "int32")], [T([3, 9], "int32")], options("BucketizeOptions", boundaries=[-3.0, 0.0, 4.0]))

    def test_matrix_diag(self):
        for dtype in ("float32", "int32", "int64"):
            self.check("MATRIX_DIAG", [T([2, 3], dtype)], [T([1], dtype)])
            self.check("MATRIX_SET_DIAG", [T([2, 3, 3], dtype), T([2, 3], dtype)], [T([1], dtype)])
            self.check("MATRIX_SET_DIAG", [T([2, 3, 5], dtype), T([2, 3], dtype)], [T([1], dtype)])
            self.check("MATRIX_SET_DIAG", [T([2, 5, 3], dtype), T([2, 3], dtype)], [T([1], dtype)])

    def test_segments(self):
        for dtype in ("float32", "int32"):
            self.check("SEGMENT_SUM", [T([5, 3], dtype), const([0, 0, 1, 2, 2])], [T([1], dtype)])
            for kind in ("SUM", "PROD", "MAX", "MIN"):
                self.check(f"UNSORTED_SEGMENT_{kind}", [T([5, 3], dtype), const([2, 0, 1, 0, 2]), const(4)], [T([1], dtype)])

    def test_embeddings(self):
        self.check("EMBEDDING_LOOKUP", [const([2, 0, 1]), T([4, 5])], [T([3, 5])])
        self.check("EMBEDDING_LOOKUP", [const([2, 0, 1]), T([4, 5], "int8", q=(0.1, 0))], [T([3, 5])])
        for combiner in (0, 1, 2):
            self.check("EMBEDDING_LOOKUP_SPARSE",
                       [const([1, 3, 0]), const([[0, 0], [2, 0], [2, 1]]), const([3, 2]), const([1.0, 2.0, 4.0], "float32"), T([4, 3, 2])], [T([3, 3, 2])],
                       options("EmbeddingLookupSparseOptions", combiner=combiner))
        self.check("HASHTABLE_LOOKUP", [const([7, 5, 9]), const([2, 5, 9]), T([3, 2])], [T([3, 2]), T([3], "uint8")])


class Reductions(OpCase):
    def test_reductions(self):
        for code in ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"):
            for keep in (False, True):
                for axes in ([0], [1, 2], [-1], [0, 1, 2, 3], [2, 1], [1, 3]):
                    self.check(code, [T([2, 3, 4, 5]), const(axes)], [T([1])], options("ReducerOptions", keepDims=keep))
                self.check(code, [T([2, 3], "int32", low=1, high=4), const([1])], [T([1], "int32")], options("ReducerOptions", keepDims=keep))
                self.check(code, [T([2, 3]), const(1)], [T([1])], options("ReducerOptions", keepDims=keep))

    def test_quantized(self):
        for keep in (False, True):
            for axes in ([1, 2], [3], [1]):
                for dtype, a, b in (("int8", Q8, Q8B), ("uint8", (0.05, 120), (0.03, 100))):
                    self.check("MEAN", [T([1, 4, 5, 3], dtype, q=a), const(axes)], [T([1], dtype, q=b)], options("ReducerOptions", keepDims=keep))
                    self.check("SUM", [T([1, 4, 5, 3], dtype, q=a), const(axes)], [T([1], dtype, q=(0.3, 4))], options("ReducerOptions", keepDims=keep), reference=False)
                for code in ("REDUCE_MAX", "REDUCE_MIN"):
                    self.check(code, [T([1, 4, 5, 3], "int8", q=Q8), const(axes)], [T([1], "int8", q=Q8)], options("ReducerOptions", keepDims=keep))

    def test_any_and_all(self):
        for code in ("REDUCE_ANY", "REDUCE_ALL"):
            for axes in ([0], [1], [0, 1]):
                self.check(code, [T([3, 4], "bool"), const(axes)], [T([1], "bool")], options("ReducerOptions", keepDims=False))

    def test_arg_max_and_min(self):
        for code, name in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
            for axis in (0, 1, -1):
                for out in ("int32", "int64"):
                    self.check(code, [T([3, 4]), const(axis)], [T([1], out)], options(name, outputType={"int32": 2, "int64": 4}[out]))
            self.check(code, [T([3, 40], "int8", q=Q8), const(-1)], [T([1], "int32")], options(name, outputType=2))

    def test_softmax(self):
        for shape in ([10], [2, 7], [2, 3, 5], [1, 2, 3, 4]):
            for beta in (1.0, 0.5):
                self.check("SOFTMAX", [T(shape, low=-5, high=5)], [T(shape)], options("SoftmaxOptions", beta=beta))
        self.check("SOFTMAX", [T([2, 9], "int8", q=(0.1, 3))], [T([2, 9], "int8", q=(1 / 256, -128))], options("SoftmaxOptions", beta=1.0))
        self.check("SOFTMAX", [T([2, 9], "uint8", q=(0.1, 3))], [T([2, 9], "uint8", q=(1 / 256, 0))], options("SoftmaxOptions", beta=1.0))
        self.check("SOFTMAX", [T([2, 9], "int16", q=(2 ** -12, 0))], [T([2, 9], "int16", q=(1 / 32768, 0))], options("SoftmaxOptions", beta=1.0), steps=7)
        self.check("LOG_SOFTMAX", [T([3, 9], low=-5, high=5)], [T([3, 9])])
        self.check("LOG_SOFTMAX", [T([3, 9], "int8", q=(0.1, 3))], [T([3, 9], "int8", q=(16 / 256, 127))])

    def test_norms(self):
        self.check("L2_NORMALIZATION", [T([3, 9])], [T([3, 9])], options("L2NormOptions"))
        self.check("L2_NORMALIZATION", [T([3, 9], "int8", q=Q8)], [T([3, 9], "int8", q=(1 / 128, 0))], options("L2NormOptions"))
        self.check("L2_NORMALIZATION", [T([3, 9], "uint8", q=(.1, 100))], [T([3, 9], "uint8", q=(1 / 128, 128))], options("L2NormOptions"))
        for radius in (1, 2, 9):
            self.check("LOCAL_RESPONSE_NORMALIZATION", [T([1, 2, 3, 6])], [T([1])],
                       options("LocalResponseNormalizationOptions", radius=radius, bias=1.5, alpha=0.3, beta=0.6), reference=False)

    def test_cumsum(self):
        for exclusive in (False, True):
            for reverse in (False, True):
                for axis in (0, 1, -1):
                    self.check("CUMSUM", [T([3, 4]), const(axis)], [T([3, 4])], options("CumsumOptions", exclusive=exclusive, reverse=reverse))

    def test_topk(self):
        self.check("TOPK_V2", [T([3, 9]), const(4)], [T([1]), T([1], "int32")])
        self.check("TOPK_V2", [T([9], "int32"), const(4)], [T([1], "int32"), T([1], "int32")])
        self.check("TOPK_V2", [T([2, 9], "int8", q=Q8), const(3)], [T([1], "int8", q=Q8), T([1], "int32")])

    def test_fourier(self):
        self.check("RFFT2D", [T([2, 4, 8]), const([4, 8])], [T([1], "complex64")], atol=1e-4)
        self.check("RFFT2D", [T([8, 8]), const([4, 16])], [T([1], "complex64")], atol=1e-4)


if __name__ == "__main__":
    unittest.main()
