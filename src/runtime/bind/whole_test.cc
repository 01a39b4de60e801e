// Kernels that may not be given whole numbers, and costs of sizes beyond memory.
#include <cmath>

#include "kernels/cpu/conv/winograd.h"
#include "runtime/bind/conv_cost.h"
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

// How many kernels of the op that round on the way take the query.
int Rounding(const KernelQuery& q) {
  int count = 0;
  for (const KernelEntry* entry : CpuKernels().Of(q.op().name))
    for (const char* part : {"winograd", "bf16", "strassen", "fft"})
      if (entry->name.find(part) != std::string::npos) count += entry->legal(q);
  return count;
}

TEST(WholeNumbers, AreNotForKernelsThatRound) {
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
    EXPECT_GT(Rounding(query), 0) << node->op->name;
    query.whole = true;
    EXPECT_EQ(Rounding(query), 0) << node->op->name;
  }
}

TEST(Costs, OfSizesThatOverflowIntegers) {
  cpu::ConvShape s;
  s.batch = int64_t{1} << 40, s.channels = s.maps = 64;
  s.kernel = {1, 3, 3};
  s.input = s.output = {1, int64_t{1} << 32, int64_t{1} << 32};
  const double products = 0x1p104 * 64 * 64 * 9;
  EXPECT_NEAR(ConvCost(s, 1), 2 * products / 1e5, 1e-9 * products);
  EXPECT_GT(cpu::WinogradCost(s, cpu::WinogradUnit::kF23, cpu::Operands::kF32), 1e-2 * products / 1e5);
  s.batch = 0;  // no memory is needed, so nothing refuses it
  EXPECT_EQ(ConvCost(s, 1), 0);
  EXPECT_FALSE(std::isnan(cpu::WinogradCost(s, cpu::WinogradUnit::kF23, cpu::Operands::kF32)));
}

}  // namespace
}  // namespace tern
