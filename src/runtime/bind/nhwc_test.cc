// Convolutions and pools over channels-last images.
#include <gtest/gtest.h>

#include "runtime/test_support.h"

namespace tern {
namespace {

// Windows that cannot be read in place are left to the im2col kernel, so that nothing is measured twice.
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

}  // namespace
}  // namespace tern
