// Tests that every op with channels_last has the same result as the op between two Transposes.
#include "ops/support/channels_last.h"

#include <cmath>

#include "ops/test_graph.h"

namespace tern {
namespace {

Tensor Numbers(const Dims& dims, int seed) {
  std::vector<double> values(static_cast<size_t>(CountOf(dims)));
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (double& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<double>(state >> 16) / 32768.0 - 1;
  }
  return Tensor::Of(DType::kF32, dims, values);
}

Tensor ToLast(const Tensor& first) {
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < first.rank(); ++i) perm.push_back(i);
  perm.push_back(1);
  return OutputOf("Transpose", {first}, {{"perm", perm}});
}

// Compares the op on [N, spatial…, C] with the op on [N, C, spatial…]. Transposes input 0 (x), the input
// `residual`, which has full rank, and the result.
void ExpectSame(const char* op, std::vector<Tensor> inputs, AttrList attrs = {}, size_t residual = 3) {
  SCOPED_TRACE(op);
  const Tensor wanted = ToLast(OutputOf(op, inputs, attrs));
  inputs[0] = ToLast(inputs[0]);
  if (inputs.size() > residual) inputs[residual] = ToLast(inputs[residual]);
  attrs.emplace_back("channels_last", true);
  const Tensor got = OutputOf(op, inputs, attrs);
  ASSERT_EQ(got.dims(), wanted.dims());
  EXPECT_EQ(ToDoubles(got), ToDoubles(wanted));
}

using Ints = std::vector<int64_t>;

TEST(ChannelsLast, Convolutions) {
  ExpectSame("Conv",
             {Numbers({2, 4, 6, 7}, 1), Numbers({6, 2, 3, 2}, 2), Numbers({6}, 3), Numbers({2, 6, 4, 7}, 4)},
             {{"group", int64_t{2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 2, 1}}});
  ExpectSame("Conv", {Numbers({2, 3, 9}, 1), Numbers({5, 3, 3}, 2)}, {{"auto_pad", "same_lower"}});
  ExpectSame("Conv", {Numbers({1, 3, 4, 3, 5}, 1), Numbers({3, 1, 2, 2, 3}, 2)}, {{"group", int64_t{3}}});
  ExpectSame("ConvTranspose",
             {Numbers({2, 4, 3, 5}, 1), Numbers({4, 3, 3, 2}, 2), Numbers({6}, 3), Numbers({1, 6, 1, 10}, 4)},
             {{"group", int64_t{2}}, {"strides", Ints{2, 2}}, {"activation", "relu"}});
  ExpectSame("ConvTranspose", {Numbers({1, 2, 4}, 1), Numbers({2, 3, 3}, 2)}, {{"output_shape", Ints{6}}});
}

TEST(ChannelsLast, Pooling) {
  for (const char* kind : {"max", "average", "lp"}) {
    ExpectSame("Pool", {Numbers({2, 3, 7, 5}, 1)},
               {{"kind", kind}, {"kernel", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}});
    ExpectSame("GlobalPool", {Numbers({2, 3, 7, 5}, 1)}, {{"kind", kind}});
  }
  ExpectSame("GlobalPool", {Numbers({2, 3}, 1)});
}

TEST(ChannelsLast, PoolHasNoIndices) {
  InitOps();
  Graph graph;
  Builder b(graph);
  Value* x = graph.AddInput("x", *Type::Parse("f32[N,8,8,3]"));
  b.Ops("Pool", {x}, {{"kernel", Ints{2, 2}}, {"channels_last", true}}, 2);
  EXPECT_NE(b.status().ToString().find("channels_last"), std::string::npos) << b.status().ToString();
}

TEST(ChannelsLast, Quantized) {
  const auto bytes = [](DType type, const Dims& dims, int seed) {
    std::vector<double> values = ToDoubles(Numbers(dims, seed));
    for (double& v : values) v = std::floor(v * 60) + 64;
    return Tensor::Of(type, dims, values);
  };
  const Tensor scale = Tensor::Of(DType::kF32, {}, {0.25}), zero = Tensor::Of(DType::kU8, {}, {60});
  const Tensor x = bytes(DType::kU8, {2, 4, 6, 7}, 1), w = bytes(DType::kI8, {6, 2, 3, 2}, 2);
  const Tensor w_scale = Tensor::Of(DType::kF32, {6}, {0.01, 0.02, 0.03, 0.04, 0.05, 0.06});
  const AttrList window = {{"group", int64_t{2}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 2, 1}}};
  const Tensor bias = Tensor::Of(DType::kI32, {6}, {1, 200, 3, -400, 5, 6}),
               residual = bytes(DType::kU8, {2, 6, 4, 7}, 3);
  const size_t kResidual = 9;
  ExpectSame("QConv", {x, scale, zero, w, w_scale, {}, scale, zero, bias, residual, scale, zero}, window,
             kResidual);
  ExpectSame("QConv", {x, scale, zero, w, w_scale, {}, {}, {}, {}, Numbers({2, 6, 4, 7}, 4)}, window,
             kResidual);
  ExpectSame("QPool", {x, scale, zero, scale, zero}, {{"kernel", Ints{3, 2}}}, kResidual);
  ExpectSame("QGlobalPool", {x, scale, zero, scale, zero}, {}, kResidual);
}

TEST(ChannelsLast, Norms) {
  const std::vector<Tensor> inputs = {Numbers({2, 6, 3, 4}, 1), Numbers({6}, 2), Numbers({6}, 3)};
  ExpectSame("InstanceNorm", inputs);
  ExpectSame("GroupNorm", inputs, {{"groups", int64_t{3}}});
  ExpectSame("Lrn", {inputs[0]}, {{"size", int64_t{3}}, {"alpha", 0.5}});
}

TEST(ChannelsLast, Blocks) {
  for (const char* mode : {"DCR", "CRD"})
    ExpectSame("DepthToSpace", {Numbers({2, 12, 3, 5}, 1)}, {{"block", int64_t{2}}, {"mode", mode}});
  ExpectSame("SpaceToDepth", {Numbers({2, 3, 6, 9}, 1)}, {{"block", int64_t{3}}});
}

TEST(ChannelsLast, SymbolicShapes) {
  InitOps();
  Graph graph;
  Builder b(graph);
  Value* x = graph.AddInput("x", *Type::Parse("f32[N,H,W,C]"));
  Value* w = graph.AddInput("w", *Type::Parse("f32[M,K,3,3]"));
  const AttrList last = {{"channels_last", true}};
  EXPECT_EQ(b.Op("Conv", {x, w}, last)->type.ToString(), "f32[N,H-2,W-2,M]");
  EXPECT_EQ(b.Op("GlobalPool", {x}, last)->type.ToString(), "f32[N,1,1,C]");
  EXPECT_EQ(b.Op("SpaceToDepth", {x}, {{"block", int64_t{1}}, {"channels_last", true}})->type.ToString(),
            "f32[N,H,W,C]");
  Value* any = graph.AddInput("any", *Type::Parse("f32[*]"));
  EXPECT_EQ(b.Op("GlobalPool", {any}, last)->type.ToString(), "f32[*]");
  EXPECT_TRUE(b.status().ok()) << b.status().ToString();
}

}  // namespace
}  // namespace tern
