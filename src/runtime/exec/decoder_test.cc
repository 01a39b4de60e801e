// Tests a decoder layer as exporters write it. The layer runs token by token. Its past keys and values are
// states.
#include <cmath>

#include "runtime/memory/allocation_counter.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// Inputs whose names begin with w become constants.
constexpr char kDecoder[] =
    R"(graph @g(%ids: i64[1,N], %pk: f32[1,2,P,8], %pv: f32[1,2,P,8], %we: f32[20,16], %wp: f32[300,16], %wq: f32[16,48],
    %wo: f32[16,16], %w1: f32[16,32], %w2: f32[32,16], %ws: f32[16], %wb: f32[16]) -> (%logits, %nk, %nv) {
  state %pk -> %nk {axis=2}
  state %pv -> %nv {axis=2}
  #zero: i64[] = (0)  #one: i64[] = (1)  #two: i64[] = (2)  #front: i64[1] = (0)  #column: i64[4] = (1, 1, -1, 1)
  #shown: f32[] = (0)  #hidden: f32[] = (-3.4e38)
  %past = Gather(Shape(%pk), #two)
  %new = Gather(Shape(%ids), #one)
  %now = Range(#zero, %new, #one) + %past
  %all = Range(#zero, %past + %new, #one)
  %x = Gather(%we, %ids) + Gather(%wp, Unsqueeze(%now, #front))
  %mask = Where(Binary(%all, Reshape(%now, #column)) {kind="less_equal"}, #shown, #hidden)
  %qkv = MatMul(LayerNorm(%x, %ws, %wb) {axis=-1}, %wq)
  %a, %nk, %nv = Attention(%qkv, %qkv, %qkv, %mask, %pk, %pv) {q_heads=2, kv_heads=2, merged=true, joint=true}
  %r = MatMul(%a, %wo, _, %x)
  %m = MatMul(MatMul(%r, %w1) {activation="gelu"}, %w2, _, %r)
  %logits = MatMul(%m, %we) {transpose_b=true}
})";

std::shared_ptr<const Graph> Decoder() {
  InitOps();
  auto parsed = ParseGraph(kDecoder);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  if (!parsed.ok()) return nullptr;
  const std::vector<Value*> inputs = (*parsed)->inputs();
  uint32_t seed = 1;
  for (Value* v : inputs)
    if (v->name[0] == 'w') (*parsed)->InputToConstant(v, Noise(v->type.shape.Concrete(), seed++));
  return std::shared_ptr<const Graph>(std::move(*parsed));
}

TEST(State, OfADecoderNeedsNoMemoryPerToken) {
  constexpr int kTokens = 200;
  const auto graph = Decoder();
  ASSERT_TRUE(graph);
  for (int threads : {1, 2}) {
    SessionOptions options;
    options.threads = threads;
    auto session = SessionOf(graph, options);
    Tensor pk(DType::kF32, {1, 2, 0, 8}), pv = pk;
    int allocating = 0;
    for (int run = 0; run < kTokens; ++run) {
      Tensor ids(DType::kI64, {1, run == 0 ? 5 : 1});
      for (int64_t i = 0; i < ids.size(); ++i) StoreLong(ids, i, (7 * run + i) % 20);
      const auto want = EvaluateGraph(*graph, {ids, pk, pv});
      ASSERT_TRUE(want.ok()) << want.status().ToString();
      ASSERT_TRUE(session->BindInput(0, ids).ok());
      Status status;
      int count = 0;
      {
        const AllocationCounter counter;
        status = session->Run();
        count = counter.count();
      }
      ASSERT_TRUE(status.ok()) << status.ToString();
      if (run > 10 && count > 0) ++allocating;
      const auto got = ToDoubles(session->Output(0).tensor), expected = ToDoubles((*want)[0].tensor);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], 1e-4 * std::max(1.0, std::fabs(expected[i]))) << run << " " << i;
      pk = (*want)[1].tensor, pv = (*want)[2].tensor;
    }
    // Only tokens at which the memory of a state doubles may allocate.
    EXPECT_LE(allocating, 5);
    EXPECT_LE(session->PlansMade(), 3);
    EXPECT_TRUE(session->Fallbacks().empty()) << session->Fallbacks().size();
    EXPECT_TRUE(session->Warnings().empty());
  }
}

}  // namespace
}  // namespace tern
