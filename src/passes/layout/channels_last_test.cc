// Tests for which convolutions the change of layout pays.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/ops.h"
#include "passes/pipeline.h"

namespace tern {
namespace {

// Returns whether the only QConv of the graph has channels last after optimization.
bool ConvertsConv(const std::string& parameters, const std::string& weight, const std::string& rest) {
  InitOps();
  auto graph = ParseGraph(StrCat("graph @g(%x: u8[1,64,3,3]", parameters,
                                 ") -> (%y) {\n  #d: i64[4] = (1, 64, 1, 1)  %w = Fill(#d) {value=", weight,
                                 "}  #s: f32[] = (0.02)  #t: f32[] = (0.0231)  #z: u8[] = (120)\n"
                                 "  %y = QConv(%x, #s, _, %w, #s, ",
                                 rest, ")\n}"));
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  OptimizeOptions options;
  options.level = Level::kLayout;
  EXPECT_TRUE(Optimize(**graph, options).ok());
  for (const auto& node : (*graph)->nodes())
    if (node->op->name == std::string("QConv")) return node->attrs.Bool("channels_last");
  ADD_FAILURE() << "there is no QConv";
  return false;
}

// With channels last, integer kernels are much faster, so that two Transposes pay. Without an integer kernel,
// this convolution is too small for them.
TEST(ChannelsLast, RewardsQuantizedConvolutionsWithIntegerKernels) {
  const std::string i8 = "i8[] (3)", u8 = "u8[] (255)";
  EXPECT_TRUE(ConvertsConv("", i8, "_, #t"));
  EXPECT_FALSE(ConvertsConv("", u8, "#z, #t")) << "the weights do not fit into i8";
  EXPECT_FALSE(ConvertsConv(", %b: i32[1]", i8, "_, #t, _, %b")) << "the bias is not constant";
}

}  // namespace
}  // namespace tern
