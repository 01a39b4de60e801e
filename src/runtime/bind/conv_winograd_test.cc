// Tests which convolutions Winograd kernels are chosen for. tests/cases/op/conv_winograd.case checks their
// results.
#include "kernels/cpu/simd/simd.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(ConvWinograd, UnitsByShape) {
  const std::string same = "pads=[1,1,1,1]", wide = "pads=[2,2,2,2]";
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 64}, {64, 64, 3, 3}, same), "cpu.conv.winograd.f6x3.f32");
  // Rounding errors grow with the number of channels, so a smaller unit is chosen.
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 128}, {128, 128, 3, 3}, same), "cpu.conv.winograd.f4x3.f32");
  // The image has few tiles. With AVX2 and better, F(4,3) saves less time in multiply-adds than it needs to
  // load its larger weights.
  const bool fast = cpu::ActiveSimd() >= cpu::SimdLevel::kAvx2;
  EXPECT_EQ(ConvKernelChosen({1, 7, 7, 512}, {512, 512, 3, 3}, same),
            fast ? "cpu.conv.winograd.f2x3.f32" : "cpu.conv.winograd.f4x3.f32");
  EXPECT_EQ(
      ConvKernelChosen({1, 14, 14, 512}, {768, 64, 3, 3}, same + ",group=8").rfind("cpu.conv.winograd.f", 0),
      0u);
  EXPECT_EQ(ConvKernelChosen({1, 28, 28, 64}, {64, 64, 5, 5}, wide), "cpu.conv.winograd.f4x5.f32");
  EXPECT_EQ(ConvKernelChosen({1, 28, 28, 256}, {64, 256, 5, 5}, wide), "cpu.conv.winograd.f2x5.f32");
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
