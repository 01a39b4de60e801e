#include "passes/batch/items.h"

#include <algorithm>

#include "ir/batch_items.h"
#include "passes/batch/item_rules.h"

namespace tern {
namespace {

// Sizes for dims that the graph leaves open. A Batch rule takes an input whose outermost dim equals the batch
// for one that contains items. Few models have a dim of kSampleBatch. If one has, the node is refused,
// because the rule's answer does not agree with the query.
constexpr int64_t kSampleBatch = 1'000'003, kSampleDim = 1009;

std::optional<StaticValue> SampleOf(const Value* v, int axis) {
  if (!v) return StaticValue{};
  if (!v->type.tensor() || !v->type.shape.ranked) return std::nullopt;
  StaticValue out{v->type.dtype, {}, v->is_constant() ? &v->constant : nullptr};
  for (int i = 0; i < v->type.shape.rank(); ++i) {
    const Dim& d = v->type.shape[i];
    out.dims.push_back(i == axis ? kSampleBatch : d.known() ? d.value() : kSampleDim);
  }
  return out;
}

// True if the op's Batch rule (OpDef::batch) says that items along axis 0 are independent.
bool IndependentInOutermostAxis(const ItemQuery& q) {
  if (!q.node.op->batch || !q.Holds(0)) return false;
  StaticNode facts;
  facts.attrs = &q.node.attrs;
  for (int i = 0; i < q.inputs(); ++i) {
    if (q.Holds(i) && q.Axis(i) != 0) return false;
    const auto sample = SampleOf(q.node.input(i), q.Axis(i));
    if (!sample) return false;
    facts.inputs.push_back(*sample);
  }
  for (const Value* v : q.node.outputs()) {
    const auto sample = SampleOf(v, 0);
    if (!sample || sample->dims.empty()) return false;
    facts.outputs.push_back(*sample);
  }
  BatchItems items(facts);
  if (!q.node.op->batch(items)) return false;
  for (int i = 0; i < q.inputs(); ++i)
    if (items.holds()[static_cast<size_t>(i)] != q.Holds(i)) return false;
  return true;
}

}  // namespace

int ItemQuery::AxisAttr(int rank) const {
  const auto axis = static_cast<int>(node.attrs.Int("axis"));
  return axis < 0 ? axis + rank : axis;
}

Status ItemQuery::OnlyIn(std::initializer_list<int> may) const {
  for (int i = 0; i < inputs(); ++i)
    if (Holds(i) && std::find(may.begin(), may.end(), i) == may.end())
      return InvalidArgument("its input ", i, ", ", node.input(i)->type.ToString(),
                             ", must be the same for all items");
  return {};
}

std::optional<std::vector<int64_t>> NumbersOf(const Value* v) {
  std::vector<int64_t> out;
  if (v->is_constant())
    for (int64_t i = 0; i < v->constant.size(); ++i) out.push_back(LoadLong(v->constant, i));
  else if (!v->content)
    return std::nullopt;
  else
    for (const Dim& d : *v->content) {
      if (!d.known()) return std::nullopt;
      out.push_back(d.value());
    }
  return out;
}

Result<std::vector<int>> OutputItemAxes(const ItemQuery& query) {
  const OpDef& op = *query.node.op;
  if (op.Is(kReadsDims)) return AllOutputs(query, kNoItems);
  if (op.Is(kElementwise)) return BroadcastItems(query);
  if (const ItemRule rule = FindItemRule(op.name)) return rule(query);
  if (IndependentInOutermostAxis(query)) return AllOutputs(query, 0);
  if (op.batch.reason() && std::string_view(op.batch.reason()) != kNoKernel.reason)
    return InvalidArgument("it is not known to process each item independently: ", op.batch.reason());
  return InvalidArgument("it is not known to process each item independently");
}

}  // namespace tern
