#include "runtime/cost/cost.h"

#include "runtime/test_support.h"

namespace tern {
namespace {

double FlopsOf(const std::string& text) {
  auto graph = ParseOrDie(text);
  double total = 0;
  for (const auto& node : graph->nodes()) {
    const auto cost = CostOf(*node);
    EXPECT_TRUE(cost) << node->Describe();
    if (cost) total += cost->flops;
  }
  return total;
}

TEST(Cost, AFusedNodeCountsAsItsParts) {
  const std::string head = "graph @g(%a: f32[2,3], %b: f32[3,4], %c: f32[4], %r: f32[2,4]) -> (%y) {\n";
  const auto fused = [&](const std::string& kind) {
    return FlopsOf(StrCat(head, "  %y = MatMul(%a, %b, %c, %r) {activation=\"", kind, "\"}\n}"));
  };
  const auto apart = [&](const std::string& last) {
    return FlopsOf(StrCat(
        head, "  %p = MatMul(%a, %b, %c)\n  %q = Binary(%p, %r) {kind=\"add\"}\n  %y = ", last, "\n}"));
  };
  EXPECT_EQ(fused("none"), 2 * 2 * 3 * 4 + 2 * 8);
  EXPECT_EQ(fused("relu"), apart("Unary(%q) {kind=\"relu\"}"));
  EXPECT_EQ(fused("elu"), apart("Activation(%q) {kind=\"elu\"}"));
  EXPECT_EQ(fused("gelu_tanh"), apart("Gelu(%q) {approximate=\"tanh\"}"));
  EXPECT_EQ(fused("clip"), apart("Clip(%q)"));
}

TEST(Cost, ResidualsAreRead) {
  const auto bytes = [](const std::string& inputs, const std::string& arguments) {
    auto graph = ParseOrDie(StrCat("graph @g(", inputs, ") -> (%y) {\n  %y = Conv(", arguments, ")\n}"));
    return CostOf(*graph->nodes().front())->bytes;
  };
  const std::string in = "%x: f32[1,2,4], %w: f32[3,2,1]";
  EXPECT_EQ(bytes(in + ", %r: f32[1,3,4]", "%x, %w, _, %r") - bytes(in, "%x, %w"), 12 * 4);
}

}  // namespace
}  // namespace tern
