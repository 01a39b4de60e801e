#include "import/torch/export/expression.h"

#include <gtest/gtest.h>

namespace tern::torch {
namespace {

std::string Parsed(std::string_view text) { return ParseExpression(text).ToString(); }

TEST(Expression, ReadsBothForms) {
  EXPECT_EQ(Parsed("Symbol('s0', positive=True, integer=True)"), "s0");
  EXPECT_EQ(Parsed("Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(-1))"), Parsed("2*s0 - 1"));
  EXPECT_EQ(Parsed("FloorDiv(Symbol('s1', integer=True), Integer(2))"), Parsed("s1//2"));
  EXPECT_EQ(Parsed("Pow(Symbol('a'), Integer(2))"), Parsed("a**2"));
  EXPECT_EQ(Parsed("Max(Integer(1), Integer(4))"), "4");
  EXPECT_EQ(Parsed("12"), "12");
}

TEST(Expression, OtherTextsAreUnknown) {
  EXPECT_TRUE(ParseExpression("").unknown());
  EXPECT_TRUE(ParseExpression("s0 +").unknown());
  EXPECT_TRUE(ParseExpression("Add(s0").unknown());
  EXPECT_TRUE(ParseExpression("ToFloat(s0)*2").unknown());
  EXPECT_TRUE(ParseExpression(std::string(3000, '(')).unknown());
  EXPECT_TRUE(ParseExpression(std::string(3000, '-')).unknown());
}

}  // namespace
}  // namespace tern::torch
