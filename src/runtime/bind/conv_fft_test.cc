// Tests which convolutions FFT kernels are chosen for. tests/cases/kernel/conv_fft.case checks their results.
#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(ConvFft, SidesByShape) {
  EXPECT_EQ(ConvKernelChosen({1, 28, 28, 128}, {128, 128, 7, 7}, "pads=[3,3,3,3]"), "cpu.conv.fft.16.f32");
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 64}, {64, 64, 11, 11}, "pads=[5,5,5,5]"), "cpu.conv.fft.32.f32");
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 32}, {32, 32, 31, 31}, "pads=[15,15,15,15]"), "cpu.conv.fft.64.f32");
  EXPECT_EQ(ConvKernelChosen({1, 500, 256}, {256, 16, 128}, "pads=[64,64], group=16"),
            "cpu.conv.fft.256.f32");
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 128}, {128, 1, 31, 31}, "pads=[15,15,15,15], group=128"),
            "cpu.conv.fft.64.depthwise.f32");
}

TEST(ConvFft, NotForOthers) {
  for (const std::string& kernel :
       {ConvKernelChosen({1, 56, 56, 64}, {64, 64, 11, 11}, "strides=[2,2]"),
        ConvKernelChosen({1, 56, 56, 64}, {64, 64, 3, 3}, "pads=[1,1,1,1]"),
        ConvKernelChosen({1, 56, 56, 64}, {64, 64, 5, 5}, "pads=[2,2,2,2]"),
        ConvKernelChosen({1, 56, 56, 64}, {64, 1, 7, 7}, "group=64"),
        // There are few tiles, so reading the transformed weights takes longer than direct products.
        ConvKernelChosen({1, 7, 7, 256}, {256, 256, 7, 7}, "group=1")})
    EXPECT_EQ(kernel.find("fft"), std::string::npos) << kernel;
}

// The convolutions of tests/cases/kernel/conv_fft.case.
TEST(ConvFft, ChosenInTheCases) {
  for (const std::string& kernel :
       {ConvKernelChosen({2, 30, 25, 17}, {20, 17, 11, 11}, "pads=[5,5,5,5]"),
        ConvKernelChosen({1, 40, 33, 12}, {24, 12, 7, 7}, "pads=[4,3,5,3], dilations=[2,1]"),
        ConvKernelChosen({1, 200, 32}, {48, 16, 40}, "pads=[20,19], group=2"),
        ConvKernelChosen({1, 40, 31, 63}, {63, 1, 13, 13}, "pads=[6,6,6,6], group=63")})
    EXPECT_NE(kernel.find("fft"), std::string::npos) << kernel;
}

}  // namespace
}  // namespace tern
