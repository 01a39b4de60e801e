// Tests which products Strassen's algorithm is chosen for. tests/cases/kernel/strassen.case checks their
// results.
#include <cmath>

#include "runtime/bind/strassen_cost.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(StrassenKernels, ChosenWhereTheyPay) {
  const std::string product = "MatMul(%x, %w)";
  EXPECT_EQ(KernelChosen({512, 512}, {512, 512}, product), "cpu.gemm.strassen.f32");
  // For small products, Strassen's algorithm is not faster.
  EXPECT_EQ(KernelChosen({512, 128}, {128, 512}, product), "cpu.gemm.packed.f32");
  EXPECT_EQ(KernelChosen({64, 1024}, {1024, 1024}, product), "cpu.gemm.packed.f32");
  EXPECT_EQ(KernelChosen({197, 768}, {768, 1536}, product), "cpu.gemm.strassen.f32");
  // Half of b has 258 columns, which is not a multiple of the panel width of any instruction set.
  EXPECT_EQ(KernelChosen({512, 512}, {512, 516}, product), "cpu.gemm.packed.f32");
  // k is odd.
  EXPECT_EQ(KernelChosen({512, 511}, {511, 512}, product), "cpu.gemm.packed.f32");
}

// The sizes are those of the smallest product of tests/cases/kernel/strassen.case.
TEST(StrassenKernels, ChosenInTheCases) { EXPECT_LT(StrassenCost(200, 512, 512), 1); }

// The two halves of the weights have very different magnitudes. This happens if two products of the same x
// are merged into one. The error of each half of the result must be small relative to that half.
TEST(StrassenKernels, UnevenWeightsAreMultipliedPlainly) {
  auto graph = ParseOrDie(
                   "graph @g(%x: f32[256,512], %a: f32[512,512], %b: f32[512,512]) -> (%y) {\n"
                   "  %w = Concat(%a, %b) {axis=1}\n  %y = MatMul(%x, %w)\n}")
                   ->Clone();
  Tensor weights[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<double> values;
    for (int j = 0; j < 512 * 512; ++j) values.push_back(std::sin(0.37 * j + i) * (i ? 1e-5 : 1));
    weights[i] = Tensor::Of(DType::kF32, {512, 512}, values);
  }
  const std::vector<Value*> inputs = graph->inputs();
  for (int i = 0; i < 2; ++i) graph->InputToConstant(inputs[static_cast<size_t>(i + 1)], weights[i]);
  std::vector<double> x;
  for (int j = 0; j < 256 * 512; ++j) x.push_back(std::sin(0.11 * j));
  const Tensor in = Tensor::Of(DType::kF32, {256, 512}, x);
  auto session = SessionOf(std::shared_ptr<const Graph>(graph->Clone()));
  auto got = session->Run(DatumList{in});
  auto want = EvaluateGraph(*graph, {in});
  ASSERT_TRUE(got.ok() && want.ok());
  ASSERT_EQ(session->Steps().back().kernel, "cpu.gemm.strassen.f32");
  const auto a = ToDoubles((*got)[0].tensor), b = ToDoubles((*want)[0].tensor);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], i % 1024 < 512 ? 1e-3 : 1e-8) << i;
}

}  // namespace
}  // namespace tern
