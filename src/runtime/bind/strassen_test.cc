// Which products take Strassen's scheme, and that they are right when bound.
#include "runtime/bind/kernel_cases.h"
#include "runtime/bind/strassen_cost.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(StrassenKernels, ChosenWhereTheyPay) {
  const std::string product = "MatMul(%x, %w)", conv = "Conv(%x, %w) {channels_last=true}";
  EXPECT_EQ(KernelChosen({512, 512}, {512, 512}, product), "cpu.gemm.strassen.f32");
  EXPECT_EQ(KernelChosen({1, 28, 28, 256}, {512, 256, 1, 1}, conv), "cpu.conv.strassen.f32");
  // Too small to gain anything.
  EXPECT_EQ(KernelChosen({512, 128}, {128, 512}, product), "cpu.gemm.packed.f32");
  EXPECT_EQ(KernelChosen({64, 1024}, {1024, 1024}, product), "cpu.gemm.packed.f32");
  EXPECT_EQ(KernelChosen({197, 768}, {768, 1536}, product), "cpu.gemm.strassen.f32");
  EXPECT_EQ(KernelChosen({1, 7, 7, 1024}, {1024, 1024, 1, 1}, conv), "cpu.conv.nhwc.pointwise.f32");
  // Halves that are no whole panels, at any instruction set.
  EXPECT_EQ(KernelChosen({512, 512}, {512, 516}, product), "cpu.gemm.packed.f32");
  EXPECT_EQ(KernelChosen({512, 511}, {511, 512}, product), "cpu.gemm.packed.f32");
  const std::string strided = "Conv(%x, %w) {channels_last=true, strides=[2,2]}";
  EXPECT_EQ(KernelChosen({1, 28, 28, 256}, {512, 256, 1, 1}, strided).find("strassen"), std::string::npos);
}

TEST(StrassenKernels, MatchTheReference) {
  ASSERT_LT(StrassenCost(200, 384, 384), 1);
  CheckKernels({
      "MatMul {activation=\"gelu\"} : f32[200,512] f32[512,1536]! f32[1536] f32[200,1536] @2e-4",
      "MatMul : f32[200,384] f32[384,384]! @2e-4",
      "MatMul {alpha=0.25,transpose_b=true,activation=\"gelu\"} : f32[3,67,384] f32[384,384]! f32[384] @2e-4",
      "MatMul {activation=\"relu\"} : f32[200,384] f32[384,384]! _ f32[200,384] @2e-4",
      "Conv {channels_last=true,activation=\"clip\",act_alpha=-1,act_beta=2} : "
      "f32[2,13,11,384] f32[384,384,1,1]! f32[384] f32[2,13,11,384] @2e-4",
      "Conv {channels_last=true,activation=\"swish\",act_alpha=1} : f32[1,300,384] f32[384,384,1]! f32[384] @2e-4",
  });
}

}  // namespace
}  // namespace tern
