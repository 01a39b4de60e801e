#include "runtime/plan/plan_states.h"

#include <algorithm>

namespace tern {
namespace {

bool Has(const std::vector<int>& slots, int slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

int NumberOf(const std::vector<int>& slots, int slot) {
  return static_cast<int>(std::find(slots.begin(), slots.end(), slot) - slots.begin());
}

int Reads(const std::vector<Draft>& drafts, int slot) {
  int reads = 0;
  for (const Draft& draft : drafts) {
    reads += static_cast<int>(std::count(draft.node->inputs.begin(), draft.node->inputs.end(), slot));
    for (const auto& captures : draft.node->captures)
      reads += static_cast<int>(std::count(captures.begin(), captures.end(), slot));
  }
  return reads;
}

void SetLength(const PlanNode& node, const std::vector<SlotFacts>& slots, int64_t length,
               KernelQuery& query) {
  const auto set = [&](const std::vector<int>& numbers, std::vector<TensorInfo>& infos) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < 0) continue;
      const LinearDims& dims = slots[static_cast<size_t>(numbers[i])].varying;
      for (size_t k = 0; k < dims.size(); ++k) infos[i].dims[k] = dims[k].At(length);
    }
  };
  set(node.inputs, query.inputs);
  set(node.outputs, query.outputs);
}

// The state's past and present in terms of slots, and the draft that makes the present, or null.
PlanState SlotsOf(const Graph& graph, const GraphState& state, const Lowered& lowered) {
  PlanState s;
  const auto& inputs = graph.inputs();
  s.past = static_cast<int>(std::find(inputs.begin(), inputs.end(), state.input) - inputs.begin());
  s.present = lowered.outputs[static_cast<size_t>(state.output)];
  return s;
}

// The kernel agrees, and nobody else reads past or present.
bool CanAppend(const PlanState& s, const Draft& maker, const std::vector<Draft>& drafts,
               const QueryFor& query_for) {
  const PlanNode& node = *maker.node;
  if (!maker.entry || !maker.entry->can.state_in_place || !Has(node.inputs, s.past)) return false;
  if (Reads(drafts, s.past) != 1 || Reads(drafts, s.present) != 0) return false;
  return maker.entry->can.state_in_place(query_for(node), NumberOf(node.inputs, s.past),
                                         NumberOf(node.outputs, s.present));
}

}  // namespace

Status CheckLengths(const Lowered& lowered, const std::vector<Draft>& drafts, int64_t most,
                    const QueryFor& query_for) {
  for (const Draft& draft : drafts) {
    if (!draft.entry || !Varies(*draft.node, lowered.slots)) continue;
    for (int64_t length : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{17}, most / 2}) {
      KernelQuery query = query_for(*draft.node);
      SetLength(*draft.node, lowered.slots, length, query);
      if (!draft.entry->legal(query))
        return Unsupported(draft.node->node().Describe(), ": kernel ", draft.entry->name,
                           " does not take the length ", length);
    }
  }
  return {};
}

std::vector<PlanState> PlanStates(const Graph& graph, Lowered& lowered, std::vector<Draft>& drafts,
                                  const QueryFor& query_for) {
  std::vector<PlanState> states;
  std::vector<Draft*> makers;
  for (const GraphState& state : graph.states()) {
    PlanState s = SlotsOf(graph, state, lowered);
    Draft* maker = nullptr;
    for (Draft& draft : drafts)
      if (Has(draft.node->outputs, s.present)) maker = &draft;
    const bool once = std::count(lowered.outputs.begin(), lowered.outputs.end(), s.present) == 1;
    const SlotFacts& present = lowered.slots[static_cast<size_t>(s.present)];
    if (maker && !maker->dynamic && once && present.is_static()) {
      s.external = true;
      lowered.state_outputs.push_back(s.present);
      s.in_place = state.axis >= 0 && CanAppend(s, *maker, drafts, query_for);
    }
    states.push_back(s);
    makers.push_back(maker);
  }
  // A kernel appends to all its states or to none.
  for (size_t i = 0; i < states.size(); ++i)
    for (size_t k = 0; k < states.size(); ++k)
      if (makers[i] == makers[k] && !states[k].in_place) states[i].in_place = false;
  for (size_t i = 0; i < states.size(); ++i)
    if (states[i].in_place) makers[i]->on_state = true;
  return states;
}

}  // namespace tern
