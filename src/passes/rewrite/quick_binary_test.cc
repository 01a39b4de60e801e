#include "passes/rewrite/quick_binary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/evaluate.h"
#include "ops/ops.h"

namespace tern {
namespace {

Tensor Numbers(const Dims& dims, int seed) {
  Tensor t(DType::kF32, dims);
  for (int64_t i = 0; i < t.size(); ++i)
    t.data<float>()[i] = std::sin(static_cast<float>(i * 37 + seed)) * (i % 5 ? 1.7f : 1e-3f);
  if (t.size() > 9) t.data<float>()[7] = std::nanf(""), t.data<float>()[9] = 0;
  return t;
}

void Check(const Dims& a, const Dims& b, const std::string& kind) {
  InitOps();
  Graph graph("g");
  Attrs attrs = FindOp("Binary")->defaults;
  ASSERT_TRUE(attrs.Set("kind", kind).ok());
  Node* node =
      graph.AddNode(*FindOp("Binary"), attrs,
                    {graph.AddConstant(Numbers(a, 1), "a"), graph.AddConstant(Numbers(b, 2), "b")}, 1);
  ASSERT_TRUE(InferNode(*node).ok());
  const auto quick = QuickBinary(*node);
  const Datum x(node->input(0)->constant), y(node->input(1)->constant);
  const auto want = EvaluateNode(*node, {&x, &y});
  ASSERT_TRUE(quick && want.ok()) << kind;
  ASSERT_EQ(quick->dims(), (*want)[0].tensor.dims());
  for (int64_t i = 0; i < quick->size(); ++i) {
    const float p = quick->data<float>()[i], q = (*want)[0].tensor.data<float>()[i];
    ASSERT_TRUE(std::memcmp(&p, &q, sizeof p) == 0 || (std::isnan(p) && std::isnan(q)))
        << kind << " " << i << ": " << p << " " << q;
  }
}

TEST(QuickBinary, GivesTheBitsOfTheReference) {
  for (const char* kind : {"add", "sub", "mul", "div"}) {
    Check({64, 65}, {64, 65}, kind);
    Check({64, 65}, {65}, kind);
    Check({64, 65}, {64, 1}, kind);
    Check({64, 5, 3, 5}, {64, 1, 1, 1}, kind);
    Check({64, 1, 1, 1}, {64, 5, 3, 5}, kind);
    Check({8, 1, 9, 1}, {1, 70, 1, 5}, kind);
    Check({5000}, {}, kind);
    Check({1}, {1, 2, 5000}, kind);
  }
}

TEST(QuickBinary, LeavesOtherNodesAlone) {
  InitOps();
  Graph graph("g");
  Attrs attrs = FindOp("Binary")->defaults;
  ASSERT_TRUE(attrs.Set("kind", "max").ok());
  Value *a = graph.AddConstant(Numbers({5000}, 1), "a"), *b = graph.AddConstant(Numbers({2}, 1), "b");
  EXPECT_FALSE(QuickBinary(*graph.AddNode(*FindOp("Binary"), attrs, {a, a}, 1)));
  EXPECT_FALSE(QuickBinary(*graph.AddNode(*FindOp("Binary"), FindOp("Binary")->defaults, {b, b}, 1)));
  Value *column = graph.AddConstant(Tensor(DType::kF32, {1 << 21, 1})),
        *row = graph.AddConstant(Tensor(DType::kF32, {1 << 21}));
  EXPECT_FALSE(QuickBinary(*graph.AddNode(*FindOp("Binary"), FindOp("Binary")->defaults, {column, row},
                                          1)));  // its result would have 16 TiB
  EXPECT_FALSE(QuickBinary(*graph.AddNode(*FindOp("Unary"), FindOp("Unary")->defaults, {a}, 1)));
}

}  // namespace
}  // namespace tern
