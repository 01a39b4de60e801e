// Every op answers the queries of passes, plans and reports: by a function, a trait, or No with a reason.
#include <gtest/gtest.h>

#include <map>

#include "ir/op_def.h"
#include "ops/ops.h"

namespace tern {
namespace {

class OpAnswers : public testing::Test {
 protected:
  void SetUp() override { InitOps(); }

  // The builder calls that an op's file lacks.
  static std::vector<std::string> Missing(const OpDef& op) {
    std::vector<std::string> missing;
    const auto need = [&](bool given, const char* call) {
      if (!given) missing.push_back(call);
    };
    need(op.flops.given(), ".Flops");
    need(op.batch.given(), ".Batch");
    need(op.axis_map.given(), ".Axes");
    need(op.slices.given(), ".Moves");
    need(op.typical_dim.given(), ".TypicalDims");
    return missing;
  }
};

TEST_F(OpAnswers, EveryOpAnswersEveryQuestion) {
  for (const OpDef* op : AllOps())
    for (const std::string& call : Missing(*op))
      ADD_FAILURE() << "op " << op->name << " (src/ops/" << op->family << "): add " << call << "(rule) or "
                    << call << "(No{\"reason\"}); see docs/extending/op.md";
}

TEST_F(OpAnswers, AnOpWithoutAnswersIsFound) {
  struct Nameless : NoAttrs {};
  OpDef op = OpDef::Of<Nameless>("does something").In("x", kFloats).Weight("w", kFloats).Out("y", kFloats);
  FillAnswers(op);
  EXPECT_EQ(Missing(op), (std::vector<std::string>{".Flops", ".Batch", ".Axes", ".TypicalDims"}));
  op.traits = kPure | kMovesData;
  op.slices = {};
  FillAnswers(op);
  EXPECT_EQ(Missing(op), (std::vector<std::string>{".Batch", ".Axes", ".Moves", ".TypicalDims"}));
}

TEST_F(OpAnswers, AnElementwiseOpNeedsNoAnswers) {
  struct Nameless : NoAttrs {};
  OpDef op =
      OpDef::Of<Nameless>("a function").In("x", kFloats).Out("y", kFloats).Traits(kPure | kElementwise);
  FillAnswers(op);
  EXPECT_EQ(Missing(op), std::vector<std::string>());
  EXPECT_EQ(*op.half, HalfRule::kWiden);
  EXPECT_TRUE(op.flops && op.batch && op.axis_map);
}

TEST_F(OpAnswers, OpsThatMoveDataSayWhichElements) {
  for (const OpDef* op : AllOps())
    if (op->MovesData() && !op->Is(kElementwise)) {
      EXPECT_TRUE(op->movement) << "op " << op->name << " has the trait kMovesData: add .Moves";
    }
}

TEST_F(OpAnswers, ReasonsAreGiven) {
  const auto answered = [](const auto& answer) { return answer || (answer.reason() && *answer.reason()); };
  for (const OpDef* op : AllOps())
    EXPECT_TRUE(answered(op->flops) && answered(op->batch) && answered(op->axis_map) &&
                answered(op->slices) && answered(op->typical_dim))
        << op->name;
}

// Constant indices, shapes and booleans are not parameters; the first input is the data.
TEST_F(OpAnswers, IntegersBesideTheDataAreSettings) {
  constexpr DTypeSet kNoParameters = kIndices | kBools;
  for (const OpDef* op : AllOps())
    for (size_t i = 1; i < op->inputs.size(); ++i) {
      const Port& port = op->inputs[i];
      if (port.types == 0 || (port.types & ~kNoParameters) || port.arity == Port::Arity::kVariadic) continue;
      EXPECT_NE(port.role, Port::Role::kData)
          << "op " << op->name << ", input '" << port.name << "': declare it with .Setting or .Weight";
    }
}

// If two op families shared the name of a kind, the text form would be ambiguous.
TEST_F(OpAnswers, NamesOfKindsAreUnique) {
  std::map<std::string, std::string> families;
  for (const OpDef* op : AllOps()) {
    if (!op->kind_prefix) continue;
    for (const Attrs::Entry& entry : op->defaults.List()) {
      if (entry.name != "kind") continue;
      for (const char* kind : entry.choices) {
        const auto [it, added] = families.emplace(*op->kind_prefix + kind, op->name);
        EXPECT_TRUE(added) << *op->kind_prefix << kind << " is a kind of " << it->second << " and of "
                           << op->name;
      }
    }
  }
}

}  // namespace
}  // namespace tern
