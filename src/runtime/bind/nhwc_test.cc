// Tests which convolutions over channels-last images are legal for the channels-last kernels.
#include <gtest/gtest.h>

#include "kernels/cpu/simd/simd.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/bind/node_query.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// If windows cannot be read in place, only the im2col kernel is legal, so that the tuner does not measure
// im2col twice.
TEST(NhwcKernels, WideDilationsUseIm2col) {
  const auto direct = [](const std::string& attrs) {
    const auto graph = ParseOrDie(StrCat(
        "graph @g(%x: f32[1,20,40,8]) -> (%y) {\n  #s: i64[4] = (16, 8, 3, 3)\n",
        "  %w = Fill(#s) {value=f32[] (0.5)}\n  %y = Conv(%x, %w) {channels_last=true, ", attrs, "}\n}"));
    SessionOptions options;
    options.explain = true;
    const auto session = SessionOf(graph, options);
    EXPECT_TRUE(session->Run({Counting({1, 20, 40, 8})}).ok());
    const Choice choice = session->Choices().back();
    for (const Candidate& c : choice.candidates)
      if (c.kernel == "cpu.conv.nhwc.direct.f32") return c;
    return Candidate{};
  };
  EXPECT_TRUE(direct("dilations=[2,2], pads=[2,2,2,2]").legal);
  const Candidate far = direct("dilations=[1000,1000], pads=[1000,1000,1000,1000]");
  EXPECT_FALSE(far.legal);
  EXPECT_EQ(far.why_not, "the dilation is too wide to read windows in place");
}

// The kernel copies all pixels between the first and the last tap, with padding. For wide dilations, the
// copies would take too much memory.
TEST(NhwcKernels, WideDilationsOfConvTransposeAreRefused) {
  const auto legal = [](const char* dilations) {
    const auto graph =
        ParseNode(StrCat("graph @g(%x: f32[1,2,3,4], %w: f32[4,6,3,3]) -> (%y) {\n",
                         "  %y = ConvTranspose(%x, %w) {channels_last=true, dilations=", dilations, "}\n}"));
    const KernelQuery query = QueryOf(*graph);
    for (const KernelEntry* entry : CpuKernels().Of("ConvTranspose"))
      if (entry->name == "cpu.conv_transpose.nhwc.f32") {
        const bool fits = entry->legal(query);
        if (!fits) {
          EXPECT_NE(entry->can.why_not(query).find("the dilation is too wide"), std::string::npos);
        }
        return fits;
      }
    ADD_FAILURE() << "no such kernel";
    return false;
  };
  EXPECT_TRUE(legal("[2,2]"));
  EXPECT_TRUE(legal("[1,64]"));
  EXPECT_FALSE(legal("[30,30]"));
}

TEST(NhwcTaps, DilationsThatReadMuchPadding) {
  const std::string taps = "cpu.conv.nhwc.taps.f32";
  EXPECT_EQ(ConvKernelChosen({1, 33, 33, 256}, {256, 256, 3, 3}, "pads=[24,24,24,24],dilations=[24,24]"),
            taps);
  EXPECT_NE(ConvKernelChosen({1, 33, 33, 256}, {256, 256, 3, 3}, "pads=[1,1,1,1]"), taps);
  EXPECT_NE(
      ConvKernelChosen({1, 33, 33, 256}, {256, 64, 3, 3}, "pads=[24,24,24,24],dilations=[24,24],group=4"),
      taps);
}

TEST(NhwcGrouped, SmallGroupsThatFitIntoVectors) {
  const std::string grouped = "cpu.conv.nhwc.grouped.f32", same = "pads=[1,1,1,1],";
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 128}, {128, 4, 3, 3}, same + "group=32"), grouped);
  EXPECT_EQ(ConvKernelChosen({1, 56, 56, 128}, {128, 4, 3, 3}, same + "group=32,strides=[2,2]"), grouped);
  // A group of 8 channels does not fit into vectors of 4 lanes.
  EXPECT_EQ(ConvKernelChosen({1, 28, 28, 256}, {256, 8, 3, 3}, same + "group=32") == grouped,
            cpu::ActiveSimd() >= cpu::SimdLevel::kAvx2);
  EXPECT_NE(ConvKernelChosen({1, 28, 28, 256}, {512, 8, 3, 3}, same + "group=32"), grouped);
  EXPECT_NE(ConvKernelChosen({1, 28, 28, 256}, {256, 8, 5, 5}, "pads=[2,2,2,2],group=32"), grouped);
  EXPECT_NE(ConvKernelChosen({1, 28, 28, 512}, {512, 16, 3, 3}, same + "group=32"), grouped);
}

}  // namespace
}  // namespace tern
