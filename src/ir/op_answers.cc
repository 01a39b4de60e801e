// Derives answers from an op's traits.
#include "ir/op_answers.h"

#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/op_cost.h"

namespace tern {

template <class F> Answer<F>::Answer() = default;
template <class F> Answer<F>::Answer(No no) : reason_(no.reason) {}
template <class F> Answer<F>::Answer(const Answer&) = default;
template <class F> Answer<F>::Answer(Answer&&) noexcept = default;
template <class F> Answer<F>& Answer<F>::operator=(const Answer&) = default;
template <class F> Answer<F>& Answer<F>::operator=(Answer&&) noexcept = default;
template <class F> Answer<F>::~Answer() = default;

template class Answer<CountRule>;
template class Answer<BatchRule>;
template class Answer<AxisRule>;
template class Answer<SliceRule>;
template class Answer<TypicalRule>;

namespace {

std::optional<double> NoFlops(const Node&) { return 0; }

// The functions below check traits in order, and the first match decides. They return no answer if no trait
// matches. An op without an answer fails ops/op_answers_test.cc.
Answer<CountRule> DefaultFlops(const OpDef& def) {
  if (def.Is(kElementwise)) return PerOutput(1);
  if (def.macs || def.MovesData() || def.Is(kReadsDims)) return NoFlops;
  return {};
}

Answer<BatchRule> DefaultBatch(const OpDef& def) {
  if (def.Is(kElementwise)) return &BatchItems::AllBroadcast;
  if (def.Is(kView)) return &BatchItems::FirstInput;
  if (def.Is(kReadsDims)) return No{"the result is one list of dims for all items"};
  return {};
}

Answer<AxisRule> DefaultAxes(const OpDef& def) {
  if (def.defaults.Has("channels_last")) return FirstOperandLayout;
  if (def.Is(kElementwise)) {
    const bool single = def.inputs.size() == 1 && def.inputs[0].arity != Port::Arity::kVariadic;
    return single ? FirstOperandAxes : BroadcastAxes;
  }
  if (def.Is(kView)) return No{"axes are split and merged"};
  if (def.Is(kReadsDims)) return No{"the result has none of the operand's axes"};
  return {};
}

HalfRule DefaultHalf(const OpDef& def, bool special) {
  if (special) return HalfRule::kKeep;
  if (def.Is(kReadsDims)) return HalfRule::kAnyType;
  return def.MovesData() ? HalfRule::kMove : HalfRule::kWiden;
}

template <class F> void Default(Answer<F>& answer, Answer<F> value) {
  if (!answer.given()) answer = std::move(value);
}

}  // namespace

void FillAnswers(OpDef& def) {
  const bool special = def.traits & (kHostOnly | kControlFlow | kRandom);
  if (special) {
    constexpr No kNo{"runs subgraphs, is random or works on the host"};
    Default(def.flops, Answer<CountRule>(kNo));
    Default(def.batch, Answer<BatchRule>(kNo));
    Default(def.axis_map, Answer<AxisRule>(kNo));
  }
  Default(def.flops, DefaultFlops(def));
  Default(def.batch, DefaultBatch(def));
  Default(def.axis_map, DefaultAxes(def));
  if (!def.MovesData()) Default(def.slices, Answer<SliceRule>(No{"the results are computed, not copied"}));
  if (def.Is(kElementwise)) Default(def.slices, Answer<SliceRule>(No{"several inputs are read"}));
  if (def.Is(kView))
    Default(def.slices,
            Answer<SliceRule>([](const StaticNode&) { return std::optional(std::vector<int64_t>{0}); }));
  if (def.WeightInput() < 0) Default(def.typical_dim, Answer<TypicalRule>(No{"no weights"}));
  if (def.Is(kView) && !def.movement) def.movement = Movement{};
  if (!def.half) def.half = DefaultHalf(def, special);
  const bool keeps =
      def.movement && def.movement->count != 0 && def.movement->border != Movement::Border::kConstant;
  if (!def.keeps_scale) def.keeps_scale = [keeps](const Attrs&) { return keeps; };
}

}  // namespace tern
