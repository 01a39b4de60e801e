#include "import/torch/script/parser.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tern::torch::script {
namespace {

// Parses a function with one statement and returns the unit.
Result<Unit> ParseLine(const std::string& line) {
  return Parse(StrCat("def f(x: Tensor) -> Tensor:\n  ", line, "\n"));
}

const Expr& ValueOf(const Result<Unit>& unit) { return *unit->functions[0]->body[0]->value; }

TEST(Parser, ReadsClasses) {
  const auto unit = Parse(
      "class M(Module):\n"
      "  __parameters__ = [\"w\", ]\n"
      "  w : Tensor\n"
      "  __annotations__[\"0\"] = __torch__.a.B\n"
      "  size : Final[int] = 4\n"
      "  def forward(self: __torch__.M,\n"
      "    x: Optional[Tensor]=None) -> Tensor:\n"
      "    return x\n"
      "class P(NamedTuple):\n"
      "  a : Tensor\n");
  ASSERT_TRUE(unit.ok()) << unit.status().ToString();
  ASSERT_EQ(unit->classes.size(), 2u);
  const Class& m = *unit->classes[0];
  EXPECT_EQ(m.base, "Module");
  EXPECT_EQ(m.fields.size(), 4u);
  ASSERT_EQ(m.methods.size(), 1u);
  EXPECT_EQ(m.methods[0]->parameters[1].otherwise->kind, Expr::Kind::kNone);
  EXPECT_EQ(unit->classes[1]->base, "NamedTuple");
}

TEST(Parser, ReadsNumbers) {
  EXPECT_EQ(ValueOf(ParseLine("return -9223372036854775808")).number, INT64_MIN);
  EXPECT_EQ(ValueOf(ParseLine("return 1.0000000000000001e-05")).real, 1e-5);
  EXPECT_EQ(ValueOf(ParseLine("return 0.")).real, 0.0);
  EXPECT_TRUE(std::isinf(ValueOf(ParseLine("return inf")).real));
  EXPECT_FALSE(ParseLine("return 99999999999999999999").ok());
  EXPECT_EQ(ParseLine("return 1j").status().code(), Code::kUnsupported);
}

TEST(Parser, ReadsTexts) {
  EXPECT_EQ(ValueOf(ParseLine("return \"a\\n\\\"b\\\"\\101\\x42\"")).text, "a\n\"b\"AB");
  EXPECT_FALSE(ParseLine("return \"a").ok());
  EXPECT_FALSE(ParseLine("return \"\\q\"").ok());
}

TEST(Parser, ReadsCalls) {
  const auto unit = ParseLine("return torch.zeros([2, n], dtype=6, layout=None)");
  const Expr& call = ValueOf(unit);
  ASSERT_EQ(call.kind, Expr::Kind::kCall);
  EXPECT_EQ(call.items[0]->kind, Expr::Kind::kAttribute);
  ASSERT_EQ(call.keywords.size(), 2u);
  EXPECT_EQ(call.keywords[0].first, "dtype");
}

TEST(Parser, ReadsTuplesAndSlices) {
  const auto unpack = ParseLine("a, b, = x");
  EXPECT_EQ(unpack->functions[0]->body[0]->target->items.size(), 2u);
  const auto one = ParseLine("a, = x");
  EXPECT_EQ(one->functions[0]->body[0]->target->items.size(), 1u);
  EXPECT_EQ(ValueOf(ParseLine("return (x)[1:3]")).items[1]->kind, Expr::Kind::kSlice);
  EXPECT_EQ(ValueOf(ParseLine("return (x,)")).items.size(), 1u);
}

TEST(Parser, KnowsTheStrengthOfOperators) {
  const auto unit = ParseLine("return a + b * c < d and not e is not None");
  const Expr& both = ValueOf(unit);
  EXPECT_EQ(both.text, "and");
  EXPECT_EQ(both.items[0]->text, "<");
  EXPECT_EQ(both.items[0]->items[0]->text, "+");
  EXPECT_EQ(both.items[1]->text, "not");
  EXPECT_EQ(both.items[1]->items[0]->text, "is not");
}

TEST(Parser, ReadsBlocks) {
  const auto unit = ParseLine(
      "if a:\n    pass\n  elif b:\n    for i in range(3):\n      x = i\n  else:\n    while c:\n      c = d\n  return x");
  ASSERT_TRUE(unit.ok()) << unit.status().ToString();
  const Block& body = unit->functions[0]->body;
  ASSERT_EQ(body.size(), 2u);
  EXPECT_EQ(body[0]->other[0]->kind, Statement::Kind::kIf);
}

TEST(Parser, ErrorsNameTheLine) {
  EXPECT_EQ(ParseLine("return (x").status().message(), "line 3: expected ',', found the end of the line");
  EXPECT_EQ(ParseLine("x y").status().message(), "line 2: expected the end of the line, found 'y'");
  EXPECT_EQ(Parse("print(1)\n").status().message(), "line 1: expected a class or a function, found 'print'");
}

TEST(Parser, LimitsTheNesting) {
  EXPECT_FALSE(ParseLine(StrCat("return ", std::string(100000, '('))).ok());
  std::string blocks = "def f():\n";
  for (size_t i = 1; i < 1000; ++i) blocks += std::string(i, ' ') + "if a:\n";
  EXPECT_FALSE(Parse(blocks).ok());
}

}  // namespace
}  // namespace tern::torch::script
