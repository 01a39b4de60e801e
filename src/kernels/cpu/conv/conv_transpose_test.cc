#include <gtest/gtest.h>

#include "kernels/cpu/conv/conv.h"

namespace tern::cpu {
namespace {

// A product of all taps and all pixels at once would be a million times as large as x.
TEST(ConvTransposeF32, NeedsLittleMemoryForLargeKernels) {
  ConvShape s;
  s.input = s.kernel = {1, 1000, 1000}, s.output = {1, 1999, 1999};
  EXPECT_LT(ConvTransposeF32(s).Scratch(2), size_t{64} << 20);
}

TEST(ConvTransposeF32, ReadsNothingWithoutChannels) {
  ConvShape s;
  s.channels = 0, s.maps = 2;
  s.input = s.output = {1, 1, 3}, s.kernel = {1 << 30, 1 << 30, 1};
  const ConvTransposeF32 conv(s);
  std::vector<std::byte> scratch(conv.Scratch(1) + 64);
  const float bias[] = {5, 7};
  std::vector<float> y(6);
  conv.Run(nullptr, nullptr, bias, nullptr, y.data(), scratch.data(), Workers(1));
  EXPECT_EQ(y, (std::vector<float>{5, 5, 5, 7, 7, 7}));
}

}  // namespace
}  // namespace tern::cpu
