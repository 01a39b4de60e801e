// Tests that shape computations propagate symbolic dims to the op that uses their results.
#include "ops/test_graph.h"

namespace tern {
namespace {

Dim Sym(const char* text) { return *Dim::Parse(text); }

class Symbolic : public ::testing::Test {
 protected:
  Symbolic() : b((InitOps(), graph)) {
    x = graph.AddInput("x", Type::TensorOf(DType::kF32, Shape({Sym("N"), 3, Sym("H"), Sym("W")})));
  }

  Value* DimOf(Value* v, int64_t axis) { return b.Op("Gather", {b.Op("Shape", {v}), b.Ints({axis})}); }
  Value* Slice(Value* v, int64_t start, int64_t end, int64_t axis, int64_t step = 1) {
    return b.Op("Slice", {v, b.Ints({start}), b.Ints({end}), b.Ints({axis}), b.Ints({step})});
  }
  std::string Text(Value* v) {
    EXPECT_TRUE(b.status().ok()) << b.status().ToString();
    return v->type.ToString();
  }
  std::string ContentText(Value* v) { return v->content ? Shape(*v->content).ToString() : "none"; }

  Graph graph;
  Builder b;
  Value* x;
};

TEST_F(Symbolic, FlattenByShapeGatherConcat) {
  Value* target = b.Op("Concat", {DimOf(x, 0), b.Ints({-1})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(ContentText(target), "[N,-1]");
  EXPECT_EQ(Text(b.Op("Reshape", {x, target})), "f32[N,3*H*W]");
}

TEST_F(Symbolic, ScalarGatherAndUnsqueeze) {
  Value* scalar = b.Op("Gather", {b.Op("Shape", {x}), b.Const(Tensor::Scalar(DType::kI64, 2))});
  EXPECT_EQ(scalar->type.shape.rank(), 0);
  Value* target =
      b.Op("Concat", {b.Op("Unsqueeze", {scalar, b.Ints({0})}), b.Ints({7})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(Text(b.Op("Expand", {b.Scalar(DType::kF32, 1), target})), "f32[H,7]");
  EXPECT_EQ(ContentText(b.Op("Squeeze", {DimOf(x, -1)})), "[W]");
}

TEST_F(Symbolic, ShapeSlicesAndSplits) {
  Value* shape = b.Op("Shape", {x});
  EXPECT_EQ(ContentText(Slice(shape, 2, INT64_MAX, 0)), "[H,W]");
  EXPECT_EQ(ContentText(Slice(shape, -1, INT64_MIN, 0, -1)), "[W,H,3,N]");
  EXPECT_EQ(ContentText(b.Op("Shape", {x}, {{"start", int64_t{-2}}})), "[H,W]");
  const auto parts = b.Ops("Split", {shape, b.Ints({1, 3})}, {}, 2);
  EXPECT_EQ(ContentText(parts[1]), "[3,H,W]");
  EXPECT_EQ(ContentText(b.Op("Size", {x})), "[3*H*N*W]");
}

TEST_F(Symbolic, AnUnknownPartDoesNotHideTheOthers) {
  Value* unknown = graph.AddInput("n", Type::TensorOf(DType::kI64, Shape({1})));
  Value* target = b.Op("Concat", {DimOf(x, 0), unknown}, {{"axis", int64_t{0}}});
  EXPECT_EQ(Text(b.Op("Expand", {b.Scalar(DType::kF32, 1), target})), "f32[N,?]");
}

TEST_F(Symbolic, SliceOfASymbolicDim) {
  EXPECT_EQ(Text(Slice(x, 0, INT64_MAX, 2)), "f32[N,3,H,W]");
  EXPECT_EQ(Text(Slice(x, 0, INT64_MAX, 2, 2)), "f32[N,3,ceildiv(H,2),W]");
  EXPECT_EQ(Text(Slice(x, 1, INT64_MAX, 2)), "f32[N,3,max(0,H-1),W]");
  EXPECT_EQ(Text(Slice(x, 0, -1, 2)), "f32[N,3,max(0,H-1),W]");
  EXPECT_EQ(Text(Slice(x, 0, 4, 2)), "f32[N,3,min(4,H),W]");
  EXPECT_EQ(Text(Slice(x, -1, INT64_MIN, 2, -1)), "f32[N,3,H,W]");
  Value* upto = b.Op("Slice", {x, b.Ints({0}), DimOf(x, 2), b.Ints({2})});
  EXPECT_EQ(Text(upto), "f32[N,3,H,W]");
}

// The inferred expressions must be equal to the evaluated sizes, also in border cases.
TEST_F(Symbolic, SliceExpressionsAgreeWithEvaluation) {
  for (int64_t start : {-9, -2, 0, 1, 9})
    for (int64_t end : {-9, -2, 0, 1, 9})
      for (int64_t step : {-3, -1, 1, 3}) {
        const Dim inferred = Slice(x, start, end, 2, step)->type.shape[2];
        for (int64_t size : {0, 1, 2, 5, 20}) {
          const Tensor got =
              OutputOf("Slice", {Tensor(DType::kI8, {size}), Tensor::Ints({start}), Tensor::Ints({end}),
                                 Tensor::Ints({0}), Tensor::Ints({step})});
          EXPECT_EQ(inferred.Evaluate({{"H", size}}), got.dim(0))
              << start << ":" << end << ":" << step << " of " << size << " by " << inferred.ToString();
        }
      }
}

TEST_F(Symbolic, OtherOps) {
  EXPECT_EQ(Text(b.Op("Range", {b.Const(Tensor::Scalar(DType::kI64, 0)), b.Op("Squeeze", {DimOf(x, 2)}),
                                b.Const(Tensor::Scalar(DType::kI64, 1))})),
            "i64[H]");
  EXPECT_EQ(Text(b.Op("Tile", {x, b.Ints({1, 2, 3, 1})})), "f32[N,6,3*H,W]");
  EXPECT_EQ(Text(b.Op("Pad", {x, b.Ints({0, 0, 1, -1, 0, 0, 1, 0})})), "f32[N,3,H+2,W-1]");
  EXPECT_EQ(Text(b.Op("Fill", {b.Op("Shape", {x})})), "f32[N,3,H,W]");
  EXPECT_EQ(Text(b.Op("Flatten", {x})), "f32[N,3*H*W]");
  EXPECT_EQ(Text(b.Op("Concat", {x, x}, {{"axis", int64_t{2}}})), "f32[N,3,2*H,W]");
  EXPECT_EQ(Text(b.Op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}})), "f32[N,H,W,3]");
  const Tensor scales = Tensor::Of(DType::kF32, {4}, {1, 1, 2, 0.5});
  EXPECT_EQ(Text(b.Op("Resize", {x, nullptr, b.Const(scales)})), "f32[N,3,2*H,floordiv(W,2)]");
  EXPECT_EQ(Text(b.Op("DepthToSpace", {b.Op("Concat", {x, x, x, x}, {{"axis", int64_t{1}}})},
                      {{"block", int64_t{2}}})),
            "f32[N,3,2*H,2*W]");
}

}  // namespace
}  // namespace tern
