#include "import/torch/aten/schema.h"

#include <gtest/gtest.h>

#include "import/torch/aten/call.h"
#include "import/torch/aten/converter.h"

namespace tern::torch {
namespace {

TEST(Schema, ReadsKindsAndDefaults) {
  const auto s = ParseSchema(
      "aten::f.out_of(Tensor(a) self, int[2] size=1, *, Tensor?[] at, float eps=1.0000000000000001e-05, str mode=\"x\") -> Tensor(a)");
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->FullName(), "aten::f.out_of");
  ASSERT_EQ(s->parameters.size(), 5u);
  EXPECT_EQ(s->parameters[0].alias, "a");
  EXPECT_EQ(s->parameters[1].length, 2);
  EXPECT_TRUE(s->parameters[2].optional_items && s->parameters[2].keyword_only);
  EXPECT_DOUBLE_EQ(s->parameters[3].otherwise.real, 1e-5);
  EXPECT_EQ(s->parameters[4].otherwise.text, "x");
  EXPECT_EQ(s->returns[0].alias, "a");
}

TEST(Schema, EveryConverterHasASchema) {
  for (const std::string& name : Converters().Names()) {
    const OpName op = SplitOp(name);
    EXPECT_FALSE(OverloadsOf(op.name).empty()) << name;
    EXPECT_TRUE(!op.has_overload || FindSchema(op.name, op.overload)) << name;
  }
}

TEST(Schema, BindsAndConverts) {
  const Schema* s = FindSchema("aten::max_pool2d", "");
  ASSERT_NE(s, nullptr);
  const auto missing = Bind(*s, {}, {});
  EXPECT_NE(missing.status().message().find("argument 'self' is missing"), std::string::npos);
  const Schema* full = FindSchema("aten::full", "");
  ASSERT_NE(full, nullptr);
  const auto bound = Bind(*full, {Arg::Ints({2, 3}), Arg::Float(1.5)}, {{"dtype", Arg::Int(6)}});
  ASSERT_TRUE(bound.ok()) << bound.status().ToString();
  EXPECT_EQ((*bound)[static_cast<size_t>(full->Find("dtype"))].dtype, DType::kF32);
  EXPECT_NE(Bind(*full, {Arg::String("x"), Arg::Int(1)}, {}).status().message().find("cannot be the string"),
            std::string::npos);
}

TEST(Schema, ResolvesOverloadsByKind) {
  const auto ints = Resolve("aten::arange", {Arg::Int(5)}, {});
  ASSERT_TRUE(ints.ok()) << ints.status().ToString();
  EXPECT_EQ((*ints)->FullName(), "aten::arange");
  const auto steps = Resolve("aten::arange", {Arg::Int(0), Arg::Int(5), Arg::Int(2)}, {});
  ASSERT_TRUE(steps.ok());
  EXPECT_EQ((*steps)->overload, "start_step");
}

TEST(Schema, InPlaceOperatorsFollowTheFunctionalOnes) {
  const Schema* s = FindSchema("aten::add_", "Tensor");
  ASSERT_NE(s, nullptr);
  EXPECT_TRUE(s->parameters[0].written);
  EXPECT_TRUE(Supports("aten::add_.Tensor"));
  EXPECT_FALSE(Supports("aten::frobnicate_"));
}

}  // namespace
}  // namespace tern::torch
