#include "runtime/plan/plan_states.h"

#include <algorithm>

namespace tern {
namespace {

bool Has(const std::vector<int>& slots, int slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

int IndexOf(const std::vector<int>& slots, int slot) {
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
  const auto set = [&](const std::vector<int>& indices, std::vector<TensorInfo>& infos) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0) continue;
      const LinearDims& dims = slots[static_cast<size_t>(indices[i])].varying;
      for (size_t k = 0; k < dims.size(); ++k) infos[i].dims[k] = dims[k].At(length);
    }
  };
  set(node.inputs, query.inputs);
  set(node.outputs, query.outputs);
}

// Returns a PlanState with the slots of the state's past and present.
PlanState SlotsOf(const Graph& graph, const GraphState& state, const Lowered& lowered) {
  PlanState s;
  const auto& inputs = graph.inputs();
  s.past = static_cast<int>(std::find(inputs.begin(), inputs.end(), state.input) - inputs.begin());
  s.present = lowered.outputs[static_cast<size_t>(state.output)];
  return s;
}

// Returns whether the kernel of `producer` can append to the state in place. The kernel must support this,
// and no other step may read past or present.
bool CanAppend(const PlanState& s, const Draft& producer, const std::vector<Draft>& drafts,
               const NodeQueries& query_for) {
  const PlanNode& node = *producer.node;
  if (!producer.entry || !producer.entry->can.state_in_place || !Has(node.inputs, s.past)) return false;
  const auto own = static_cast<int>(std::count(node.inputs.begin(), node.inputs.end(), s.past));
  if (Reads(drafts, s.past) != own || Reads(drafts, s.present) != 0) return false;
  const KernelQuery query = query_for(node);
  const int present = IndexOf(node.outputs, s.present);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] == s.past && !producer.entry->can.state_in_place(query, static_cast<int>(i), present))
      return false;
  return true;
}

// A kernel may support several pairs of past and present, such as keys and values. It appends in place for
// all pairs or for none. Returns whether all these pairs are states that can be updated in place.
bool AppendsToAll(const Draft& producer, const std::vector<PlanState>& states, const NodeQueries& query_for) {
  const PlanNode& node = *producer.node;
  const KernelQuery query = query_for(node);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      if (!producer.entry->can.state_in_place(query, static_cast<int>(i), static_cast<int>(o))) continue;
      const auto is_state = [&](const PlanState& s) {
        return s.in_place && s.past == node.inputs[i] && s.present == node.outputs[o];
      };
      if (std::none_of(states.begin(), states.end(), is_state)) return false;
    }
  return true;
}

}  // namespace

Status CheckLengths(const Lowered& lowered, const std::vector<Draft>& drafts, int64_t max_length,
                    const NodeQueries& query_for) {
  for (const Draft& draft : drafts) {
    if (!draft.entry || !Varies(*draft.node, lowered.slots)) continue;
    for (int64_t length : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{17}, max_length / 2}) {
      KernelQuery query = query_for(*draft.node);
      SetLength(*draft.node, lowered.slots, length, query);
      if (!draft.entry->legal(query))
        return Unsupported(draft.node->node().Describe(), ": kernel ", draft.entry->name,
                           " does not support length ", length);
    }
  }
  return {};
}

std::vector<PlanState> PlanStates(const Program& program, Lowered& lowered, std::vector<Draft>& drafts,
                                  const NodeQueries& query_for) {
  std::vector<PlanState> states;
  std::vector<Draft*> producers;
  for (const GraphState& state : program.states) {
    PlanState s = SlotsOf(*program.graph, state, lowered);
    Draft* producer = nullptr;
    for (Draft& draft : drafts)
      if (Has(draft.node->outputs, s.present)) producer = &draft;
    const bool once = std::count(lowered.outputs.begin(), lowered.outputs.end(), s.present) == 1;
    const SlotFacts& present = lowered.slots[static_cast<size_t>(s.present)];
    if (producer && !producer->dynamic && once && present.is_static()) {
      s.external = true;
      lowered.state_outputs.push_back(s.present);
      s.in_place =
          state.axis >= 0 && !Has(lowered.outputs, s.past) && CanAppend(s, *producer, drafts, query_for);
    }
    states.push_back(s);
    producers.push_back(producer);
  }
  for (size_t i = 0; i < states.size(); ++i)
    if (states[i].in_place && !AppendsToAll(*producers[i], states, query_for)) states[i].in_place = false;
  for (size_t i = 0; i < states.size(); ++i)
    if (states[i].in_place) producers[i]->on_state = true;
  return states;
}

}  // namespace tern
