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
  const auto separate = [&](const std::string& last) {
    return FlopsOf(StrCat(
        head, "  %p = MatMul(%a, %b, %c)\n  %q = Binary(%p, %r) {kind=\"add\"}\n  %y = ", last, "\n}"));
  };
  EXPECT_EQ(fused("none"), 2 * 2 * 3 * 4 + 2 * 8);
  EXPECT_EQ(fused("relu"), separate("Unary(%q) {kind=\"relu\"}"));
  EXPECT_EQ(fused("elu"), separate("Activation(%q) {kind=\"elu\"}"));
  EXPECT_EQ(fused("gelu_tanh"), separate("Gelu(%q) {approximate=\"tanh\"}"));
  EXPECT_EQ(fused("clip"), separate("Clip(%q)"));
}

TEST(Cost, ResidualsAreRead) {
  const auto bytes = [](const std::string& inputs, const std::string& arguments) {
    auto graph = ParseOrDie(StrCat("graph @g(", inputs, ") -> (%y) {\n  %y = Conv(", arguments, ")\n}"));
    return CostOf(*graph->nodes().front())->bytes;
  };
  const std::string in = "%x: f32[1,2,4], %w: f32[3,2,1]";
  EXPECT_EQ(bytes(in + ", %r: f32[1,3,4]", "%x, %w, _, %r") - bytes(in, "%x, %w"), 12 * 4);
}

// Returns whether the constant #c of the graph is a parameter.
bool CountsAsParameter(const std::string& inputs, const std::string& body) {
  const auto graph = ParseOrDie(StrCat("graph @g(", inputs, ") -> (%y) {\n", body, "\n}"));
  for (const auto& v : graph->values())
    if (v->name == "c") return IsParameter(*v);
  ADD_FAILURE() << "no #c in " << body;
  return false;
}

TEST(Cost, OpsDeclareWhichConstantsAreParameters) {
  const std::string image = "%x: f32[1,1,4]";
  EXPECT_TRUE(CountsAsParameter(image, "  #c: f32[1,1,1] = (2)\n  %y = Conv(%x, #c)"));
  EXPECT_TRUE(CountsAsParameter(image, "  #c: f32[4] = (1, 2, 3, 4)\n  %y = %x + #c"));
  EXPECT_TRUE(CountsAsParameter("%i: i64[3]", "  #c: f32[2,2] = (1, 2, 3, 4)\n  %y = Gather(#c, %i)"));
  // Limits of Clip, indices and operands of shape arithmetic are not parameters, whatever their types.
  EXPECT_FALSE(CountsAsParameter(image, "  #c: f32[] = (0)\n  %y = Clip(%x, #c)"));
  EXPECT_FALSE(CountsAsParameter(image, "  #c: i32[2] = (0, 1)\n  %y = Gather(%x, #c) {axis=2}"));
  EXPECT_FALSE(CountsAsParameter(image, "  #c: i64[3] = (1, 2, 2)\n  %y = Reshape(%x, #c)"));
  EXPECT_FALSE(CountsAsParameter("%i: i32[3]", "  #c: i32[3] = (1, 2, 3)\n  %y = %i * #c"));
}

}  // namespace
}  // namespace tern
