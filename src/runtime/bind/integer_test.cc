// Tests that no kernel that rounds is legal if sums of integers must be exact. Also tests the costs of sizes
// that exceed int64_t.
#include <cmath>

#include "kernels/cpu/conv/winograd.h"
#include "runtime/bind/conv_work.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

KernelQuery QueryFor(const Node& node, const std::vector<Dims>& inputs, const std::vector<Dims>& outputs) {
  KernelQuery q(*node.op, node.attrs);
  for (const Dims& dims : inputs) q.inputs.push_back({DType::kF32, dims});
  for (const Dims& dims : outputs) q.outputs.push_back({DType::kF32, dims});
  q.known.resize(inputs.size());
  q.weight.assign(inputs.size(), true);
  q.weight[0] = false;
  q.bf16 = true;
  return q;
}

// Returns the number of legal kernels of the op that round intermediate values.
int RoundingKernels(const KernelQuery& q) {
  int count = 0;
  for (const KernelEntry* entry : CpuKernels().Of(q.op().name))
    for (const char* part : {"winograd", "bf16", "strassen", "fft"})
      if (entry->name.find(part) != std::string::npos) count += entry->legal(q);
  return count;
}

TEST(ExactIntegers, ExcludeKernelsThatRound) {
  const auto graph = ParseOrDie(R"(graph @g(%x: f32[1,56,56,64], %w: f32[64,64,3,3], %a: f32[9,1024],
                                            %b: f32[1024,1024], %s: f32[7,1,32], %p: f32[1,64,32],
                                            %r: f32[1,64,64]) -> (%y, %c, %h) {
    %y = Conv(%x, %w) {channels_last=true, pads=[1,1,1,1]}
    %c = MatMul(%a, %b)
    %h = Rnn(%s, %p, %r) {kind="rnn"}
  })");
  for (const auto& node : graph->nodes()) {
    std::vector<Dims> inputs, outputs;
    for (const Value* v : node->inputs()) inputs.push_back(v->type.shape.Concrete());
    for (const Value* v : node->outputs()) outputs.push_back(v->type.shape.Concrete());
    KernelQuery query = QueryFor(*node, inputs, outputs);
    EXPECT_GT(RoundingKernels(query), 0) << node->op->name;
    query.exact_integers = true;
    EXPECT_EQ(RoundingKernels(query), 0) << node->op->name;
  }
}

TEST(Costs, OfSizesThatOverflowIntegers) {
  cpu::ConvShape s;
  s.batch = 3, s.channels = s.maps = int64_t{1} << 22;
  s.input = s.output = {1, int64_t{1} << 31, int64_t{1} << 31};
  s.kernel = {1, 3, 3};
  const double image = std::pow(2.0, 62 + 22) * 3;
  EXPECT_NEAR(ConvOperands(s).moved, 4 * 2 * image, 1e-9 * image);
  for (const Work& work : {Im2colWork("im2col_nchw", s), ConvTransposeWork("transposed", s)}) {
    EXPECT_GE(work.products, 9 * image * std::pow(2.0, 22)) << work.algorithm;
    EXPECT_TRUE(std::isfinite(work.products) && std::isfinite(work.transformed));
  }
  EXPECT_GE(DepthwiseWork("depthwise", s).products, 9 * image);
  s.batch = 0;
  EXPECT_EQ(ConvOperands(s).moved, 0);
  EXPECT_EQ(Im2colWork("im2col_nchw", s).products, 0);
  EXPECT_EQ(cpu::Winograd(s, cpu::WinogradUnit::kF23).Count().products, 0);
}

}  // namespace
}  // namespace tern
