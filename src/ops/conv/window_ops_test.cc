// Tests the shapes and errors of convolutions and pools, also with symbolic dims.
#include <cmath>

#include "ops/test_graph.h"

namespace tern {
namespace {

class WindowTest : public testing::Test {
 protected:
  WindowTest() : b_((InitOps(), graph_)) {}

  Value* Input(const std::vector<const char*>& dims, DType type = DType::kF32) {
    std::vector<Dim> out;
    for (const char* d : dims) out.push_back(*Dim::Parse(d));
    return graph_.AddInput("x", Type::TensorOf(type, Shape(std::move(out))));
  }
  std::string ShapeOf(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs) {
    Builder b(graph_);
    Value* y = b.Op(op, inputs, attrs);
    return b.status().ok() ? y->type.ToString() : b.status().message();
  }
  void Refuses(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs, const char* reason) {
    EXPECT_NE(ShapeOf(op, inputs, attrs).find(reason), std::string::npos) << ShapeOf(op, inputs, attrs);
  }

  Graph graph_;
  Builder b_;
  using L = std::vector<int64_t>;
};

TEST_F(WindowTest, ConvSizesAreExpressions) {
  Value *x = Input({"N", "3", "H", "W"}), *w = Input({"8", "3", "3", "3"});
  EXPECT_EQ(ShapeOf("Conv", {x, w}, {}), "f32[N,8,H-2,W-2]");
  EXPECT_EQ(ShapeOf("Conv", {x, w}, {{"pads", L{1, 1, 1, 1}}}), "f32[N,8,H,W]");
  EXPECT_EQ(ShapeOf("Conv", {x, w}, {{"pads", L{1, 1, 1, 1}}, {"strides", L{2, 1}}}),
            "f32[N,8,floordiv(H-1,2)+1,W]");
  EXPECT_EQ(ShapeOf("Conv", {x, w}, {{"strides", L{2, 2}}, {"auto_pad", "same_upper"}}),
            "f32[N,8,ceildiv(H,2),ceildiv(W,2)]");
  EXPECT_EQ(ShapeOf("Conv", {x, Input({"M", "3", "?", "3"})}, {}), "f32[N,M,?,W-2]");
  EXPECT_EQ(ShapeOf("ConvTranspose", {x, Input({"3", "4", "2", "2"})}, {{"strides", L{2, 2}}}),
            "f32[N,4,2*H,2*W]");
}

TEST_F(WindowTest, PoolSizes) {
  Value* x = Input({"N", "C", "H", "7"});
  EXPECT_EQ(ShapeOf("Pool", {x}, {{"kernel", L{2, 2}}, {"strides", L{2, 2}}}),
            "f32[N,C,floordiv(H-2,2)+1,3]");
  EXPECT_EQ(ShapeOf("Pool", {x}, {{"kernel", L{1, 2}}, {"strides", L{1, 2}}, {"ceil_mode", true}}),
            "f32[N,C,H,4]");
  EXPECT_EQ(ShapeOf("GlobalPool", {x}, {}), "f32[N,C,1,1]");
  const AttrList wide = {{"kernel", L{9, 9}}, {"strides", L{9, 9}}, {"ceil_mode", true}};
  EXPECT_EQ(ShapeOf("Pool", {Input({"1", "2", "1", "7"})}, wide),
            "f32[1,2,1,1]");  // one window, partly beyond the end
}

TEST_F(WindowTest, UnknownRanksPass) {
  Value* any = graph_.AddInput("any", Type::TensorOf(DType::kF32));
  EXPECT_EQ(ShapeOf("Conv", {any, any}, {}), "f32[*]");
  EXPECT_EQ(ShapeOf("Conv", {any, Input({"8", "3", "3"})}, {}), "f32[?,8,?]");
  EXPECT_EQ(ShapeOf("Pool", {any}, {{"kernel", L{2, 2}}}), "f32[?,?,?,?]");
  EXPECT_EQ(ShapeOf("MatMul", {any, any}, {}), "f32[*]");
}

TEST_F(WindowTest, BadConvolutionsAreRefused) {
  Value *x = Input({"1", "4", "5", "5"}), *w = Input({"6", "2", "3", "3"});
  Refuses("Conv", {x, w}, {}, "x has 4 channels, but w expects 2 in each of 1 group(s)");
  Refuses("Conv", {x, w}, {{"group", int64_t{0}}}, "group is 0");
  Refuses("Conv", {x, w}, {{"group", int64_t{4}}}, "group 4 does not divide the 6 output channels");
  Refuses("Conv", {x, Input({"6", "4", "3"})}, {}, "ranks differ");
  Refuses("Conv", {Input({"4", "5"}), Input({"6", "4"})}, {}, "rank 3 or more");
  const AttrList two = {{"group", int64_t{2}}};
  const auto with = [&](const char* name, AttrValue value) {
    return AttrList{{"group", int64_t{2}}, {name, std::move(value)}};
  };
  EXPECT_EQ(ShapeOf("Conv", {x, w}, two), "f32[1,6,3,3]");
  Refuses("Conv", {x, w}, with("strides", L{0, 1}), "strides [0, 1]: 0 is outside");
  Refuses("Conv", {x, w}, with("strides", L{1}), "strides has 1 numbers, but needs 2");
  Refuses("Conv", {x, w}, with("dilations", L{1, int64_t{1} << 40}), "dilations");
  Refuses("Conv", {x, w}, with("pads", L{-2, 0, -2, 0}), "does not fit into 5 elements padded by -2 and -2");
  Refuses("Conv", {x, w, Input({"5"})}, two, "'bias' must have 6 elements");
  Refuses("ConvTranspose", {x, Input({"4", "2", "3", "3"})}, {{"pads", L{9, 0, 9, 0}}},
          "crop more than the entire result");
  Refuses("ConvTranspose", {x, Input({"4", "2", "3", "3"})}, {{"output_padding", L{-1, 0}}},
          "output_padding");
}

TEST_F(WindowTest, BadPoolsAreRefused) {
  Value* x = Input({"1", "4", "5", "5"});
  Refuses("Pool", {x}, {}, "kernel is empty");
  Refuses("Pool", {x}, {{"kernel", L{0, 2}}}, "kernel size 0");
  Refuses("Pool", {x}, {{"kernel", L{2}}}, "x must have rank 3");
  Refuses("Pool", {x}, {{"kernel", L{2, int64_t{1} << 31}}}, "kernel size 2147483648");
  Refuses("Pool", {x}, {{"kernel", L{6, 2}}}, "does not fit");
  Refuses("Pool", {x}, {{"kernel", L{2, 2}}, {"pads", L{2, 0, 0, 0}}}, "smaller than the window");
  Refuses("Pool", {Input({"1", "1", "4"}, DType::kI8)}, {{"kernel", L{2}}, {"kind", "average"}},
          "only max pooling takes integers");
}

TEST(ConvValues, IntegersGiveI32) {
  const Tensor x = Tensor::Of(DType::kU8, {1, 1, 3}, {200, 255, 3}),
               w = Tensor::Of(DType::kI8, {1, 1, 2}, {-100, 2});
  const Tensor y = OutputOf("Conv", {x, w});
  EXPECT_EQ(y.dtype(), DType::kI32);
  EXPECT_EQ(ToLongs(y), (std::vector<int64_t>{-200 * 100 + 510, -25500 + 6}));
}

TEST(ConvValues, NegativePadsCropAndEmptyBatchesPass) {
  const Tensor x = Tensor::Of(DType::kF32, {1, 1, 4}, {1, 2, 3, 4}),
               w = Tensor::Of(DType::kF32, {1, 1, 1}, {10});
  EXPECT_EQ(ToDoubles(OutputOf("Conv", {x, w}, {{"pads", std::vector<int64_t>{-1, 1}}})),
            (std::vector<double>{20, 30, 40, 0}));
  EXPECT_EQ(OutputOf("Conv", {Tensor(DType::kF32, {0, 1, 4}), w}).dims(), (Dims{0, 1, 4}));
}

TEST(PoolValues, NanWins) {
  const Tensor x = Tensor::Of(DType::kF32, {1, 1, 2, 2}, {1, NAN, 7, 3});
  EXPECT_TRUE(std::isnan(ToDoubles(OutputOf("Pool", {x}, {{"kernel", std::vector<int64_t>{2, 2}}}))[0]));
}

}  // namespace
}  // namespace tern
