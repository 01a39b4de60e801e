// Tests that elementwise ops and reductions propagate content: the elements of a shape as expressions.
#include "ops/test_graph.h"

namespace tern {
namespace {

class ContentTest : public testing::Test {
 protected:
  ContentTest() : b_((InitOps(), graph_)) {}

  // Returns an i64 vector whose elements are these expressions.
  Value* Shape(const std::vector<const char*>& dims) {
    Content content;
    for (const char* d : dims) content.push_back(*Dim::Parse(d));
    Value* v = graph_.AddInput(
        "s", Type::TensorOf(DType::kI64, tern::Shape::Of({static_cast<int64_t>(dims.size())})));
    v->content = content;
    return v;
  }
  Value* Binary(const char* kind, Value* a, Value* b) { return b_.Op("Binary", {a, b}, {{"kind", kind}}); }
  std::string Text(const Value* v) {
    EXPECT_TRUE(b_.status().ok()) << b_.status().ToString();
    return v->content ? tern::Shape(*v->content).ToString() : "none";
  }

  Graph graph_;
  Builder b_;
};

TEST_F(ContentTest, Arithmetic) {
  Value* s = Shape({"N", "2*H", "3"});
  EXPECT_EQ(Text(Binary("add", s, b_.Ints({1}))), "[N+1,2*H+1,4]");
  EXPECT_EQ(Text(Binary("mul", s, s)), "[N*N,4*H*H,9]");
  EXPECT_EQ(Text(Binary("sub", s, b_.Ints({0, 0, 3}))), "[N,2*H,0]");
  EXPECT_EQ(Text(Binary("div", s, b_.Ints({2}))), "[floordiv(N,2),H,1]");
  EXPECT_EQ(Text(Binary("max", s, b_.Ints({1}))), "[max(N,1),max(2*H,1),3]");
}

TEST_F(ContentTest, DivisionThatMayTruncateUpwardsIsUnknown) {
  EXPECT_EQ(Text(Binary("div", Shape({"N-5", "2*N-4"}), b_.Ints({2}))), "[?,N-2]");
  EXPECT_EQ(Text(Binary("div", Shape({"N"}), b_.Ints({0}))), "[?]");
}

// floordiv(N-5,2) is negative for a small N, but floordiv(H-1,2)+1, the output of a strided Conv, is not.
TEST_F(ContentTest, SignsInsideFunctionsCount) {
  Value *negative = Shape({"floordiv(N-5,2)"}), *size = Shape({"floordiv(H-1,2)+1"});
  EXPECT_EQ(Text(Binary("div", negative, b_.Ints({2}))), "[?]");
  EXPECT_EQ(Text(Binary("mod", negative, b_.Ints({2}))), "[?]");
  EXPECT_EQ(Text(Binary("div", b_.Ints({7}), negative)), "[?]");
  EXPECT_EQ(Text(Binary("less", negative, b_.Ints({0}))), "[?]");
  EXPECT_EQ(Text(Binary("div", size, b_.Ints({2}))), "[floordiv(floordiv(H-1,2)+1,2)]");
  EXPECT_EQ(Text(Binary("less", size, b_.Ints({0}))), "[0]");
  EXPECT_EQ(Text(Binary("div", Shape({"floordiv(N,M)", "floordiv(N-1,M)"}), b_.Ints({2}))),
            "[floordiv(floordiv(N,M),2),?]");
  EXPECT_EQ(Text(Binary("div", Shape({"N*floordiv(H-1,2)"}), b_.Ints({2}))), "[?]");
}

TEST_F(ContentTest, OverflowIsUnknown) {
  EXPECT_EQ(Text(Binary("mul", b_.Ints({INT64_MAX}), b_.Ints({2}))), "[?]");
}

TEST_F(ContentTest, ExpressionsDoNotGrowWithoutEnd) {
  Value* square = Shape({"N+1"});
  Value* larger = Shape({"N"});
  for (int i = 0; i < 60; ++i) {
    square = Binary("mul", square, square);
    larger = Binary("max", larger, Binary("mul", larger, Shape({"M"})));
  }
  EXPECT_EQ(Text(square), "[?]");
  EXPECT_EQ(Text(larger), "[?]");
}

// torch exports `expand` in this form, where -1 means that the dim is unchanged.
TEST_F(ContentTest, WhereEqual) {
  Value* wanted = Shape({"N", "4"});
  Value* minus = b_.Ints({-1});
  Value* same = Binary("equal", wanted, minus);
  EXPECT_EQ(Text(same), "[0,0]");
  EXPECT_EQ(Text(b_.Op("Where", {same, b_.Ints({1, 1}), wanted})), "[N,4]");
}

TEST_F(ContentTest, CastReduceClip) {
  Value* s = Shape({"N", "3", "4"});
  Value* half = b_.Op("Cast", {b_.Op("Cast", {s}, {{"to", DType::kF32}})}, {{"to", DType::kI64}});
  EXPECT_EQ(Text(half), "[N,3,4]");
  EXPECT_EQ(Text(b_.Op("Reduce", {s}, {{"kind", "prod"}, {"keep_dims", false}})), "[12*N]");
  EXPECT_EQ(Text(b_.Op("Reduce", {s}, {{"kind", "mean"}})), "none");
  EXPECT_EQ(Text(b_.Op("Clip", {s, nullptr, b_.Scalar(DType::kI64, 3)})), "[min(N,3),3,3]");
}

}  // namespace
}  // namespace tern
