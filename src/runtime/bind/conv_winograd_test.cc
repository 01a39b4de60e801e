// Tests which convolutions Winograd kernels are chosen for. tests/cases/op/conv_winograd.case checks their
// results.
#include "kernels/cpu/simd/simd.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(ConvWinograd, UnitsByShape) {
  const std::string same = "pads=[1,1,1,1]", wide = "pads=[2,2,2,2]";
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 64}, {64, 64, 3, 3}, same), "cpu.conv.winograd.f4x3.f32");
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 128}, {128, 128, 3, 3}, same), "cpu.conv.winograd.f4x3.f32");
  // The image has few tiles. With AVX2 and better, F(4,3) saves less time in multiply-adds than it needs to
  // load its larger weights.
  const bool fast = cpu::ActiveSimd() >= cpu::SimdLevel::kAvx2;
  EXPECT_EQ(ConvKernelChosen({1, 7, 7, 512}, {512, 512, 3, 3}, same),
            fast ? "cpu.conv.winograd.f2x3.f32" : "cpu.conv.winograd.f4x3.f32");
  EXPECT_EQ(
      ConvKernelChosen({1, 14, 14, 512}, {768, 64, 3, 3}, same + ",group=8").rfind("cpu.conv.winograd.f", 0),
      0u);
  EXPECT_EQ(ConvKernelChosen({1, 28, 28, 64}, {64, 64, 5, 5}, wide), "cpu.conv.winograd.f2x5.f32");
  EXPECT_EQ(ConvKernelChosen({1, 28, 28, 256}, {64, 256, 5, 5}, wide), "cpu.conv.winograd.f2x5.f32");
}

// Tiles of 8 x 8 round more than 1e-6, so that they are chosen only on request.
TEST(ConvWinograd, LargeTilesWithFastMathOnly) {
  const auto graph = ParseOrDie(R"(graph @g(%x: f32[1,56,56,64]) -> (%y) {
    #s: i64[4] = (64, 64, 3, 3)
    #t: i64[4] = (64, 64, 5, 5)
    %w = Fill(#s) {value=f32[] (0.5)}
    %v = Fill(#t) {value=f32[] (0.5)}
    %y = Conv(Conv(%x, %w) {channels_last=true, pads=[1,1,1,1]}, %v) {channels_last=true, pads=[2,2,2,2]}
  })");
  for (Precision precision : {Precision::kF32, Precision::kFast}) {
    SessionOptions options;
    options.precision = precision;
    auto session = SessionOf(graph, options);
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->BindInput(0, Counting({1, 56, 56, 64})).ok());
    ASSERT_TRUE(session->Prepare().ok());
    std::string kernels;
    for (const StepInfo& step : session->Steps()) kernels += step.kernel + " ";
    const bool fast = precision == Precision::kFast;
    EXPECT_EQ(kernels.find("f6x3") != std::string::npos, fast) << kernels;
    EXPECT_EQ(kernels.find("f4x5") != std::string::npos, fast) << kernels;
  }
}

TEST(ConvWinograd, NotForOthers) {
  for (const std::string& kernel :
       {ConvKernelChosen({1, 56, 56, 64}, {64, 64, 3, 3}, "pads=[1,1,1,1],strides=[2,2]"),
        ConvKernelChosen({1, 56, 56, 64}, {64, 64, 3, 3}, "pads=[1,1,1,1],dilations=[2,2]"),
        // Groups have fewer output channels than a panel has columns.
        ConvKernelChosen({1, 56, 56, 64}, {64, 1, 3, 3}, "pads=[1,1,1,1],group=64"),
        ConvKernelChosen({1, 56, 56, 64}, {64, 64, 1, 1}, "group=1"),
        ConvKernelChosen({1, 56, 56, 64}, {64, 64, 3, 5}, "group=1")})
    EXPECT_EQ(kernel.find("winograd"), std::string::npos) << kernel;
  // A first layer has few channels. With AVX2 and better, Winograd is not faster for it.
  const std::string first = ConvKernelChosen({1, 56, 56, 3}, {16, 3, 3, 3}, "pads=[1,1,1,1]");
  EXPECT_EQ(first.find("winograd") == std::string::npos, cpu::ActiveSimd() >= cpu::SimdLevel::kAvx2) << first;
}

}  // namespace
}  // namespace tern
