#include "runtime/plan/draft_order.h"

#include <algorithm>

#include "runtime/memory/memory_planner.h"
#include "runtime/plan/step_order.h"
#include "runtime/plan/views.h"

namespace tern {
namespace {

void AddOnce(std::vector<int>& list, int v) {
  if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
}

// Builds the OrderProblem. Each slot becomes a block of memory, except that a view belongs to the block of
// its input.
class ProblemMaker {
 public:
  ProblemMaker(int bound, const Lowered& lowered, const std::vector<Draft>& drafts)
      : bound_(bound),
        lowered_(lowered),
        drafts_(drafts),
        base_(lowered.slots.size()),
        producer_(lowered.slots.size(), -1) {
    for (size_t i = 0; i < base_.size(); ++i) base_[i] = static_cast<int>(i);
  }

  OrderProblem Make() {
    problem_.bytes.assign(base_.size(), 0);
    problem_.live_out.assign(base_.size(), false);
    for (size_t i = 0; i < drafts_.size(); ++i) Add(static_cast<int>(i));
    for (int slot : lowered_.outputs) problem_.live_out[At(base_[At(slot)])] = true;
    return std::move(problem_);
  }

 private:
  static size_t At(int i) { return static_cast<size_t>(i); }

  bool IsFixed(int slot) const {
    const SlotFacts& facts = lowered_.slots[At(slot)];
    return facts.is_known() && !facts.is_written();
  }

  void Add(int index) {
    const Draft& draft = drafts_[At(index)];
    OrderStep step;
    const auto read = [&](int slot) {
      if (slot < 0 || IsFixed(slot)) return;
      if (producer_[At(slot)] >= 0) AddOnce(step.after, producer_[At(slot)]);
      AddOnce(step.reads, base_[At(slot)]);
    };
    for (int slot : draft.node->inputs) read(slot);
    for (const auto& captures : draft.node->captures)
      for (int slot : captures) read(slot);
    if (draft.dynamic || draft.node->node().op->Is(kRandom)) {
      if (last_fixed_ >= 0) AddOnce(step.after, last_fixed_);
      last_fixed_ = index;
    }
    for (int slot : draft.node->outputs) producer_[At(slot)] = index;
    if (IsView(draft)) {
      for (int slot : draft.node->outputs) base_[At(slot)] = base_[At(draft.node->inputs[0])];
    } else {
      step.overwrites = Overwrites(draft);
      for (int slot : draft.node->outputs) AddWrite(slot, step);
    }
    problem_.steps.push_back(std::move(step));
  }

  void AddWrite(int slot, OrderStep& step) {
    const SlotFacts& facts = lowered_.slots[At(slot)];
    if (IsFixed(slot)) return;
    if (facts.is_static()) problem_.bytes[At(slot)] = (facts.bytes() + 63) / 64 * 64;
    step.writes.push_back(slot);
  }

  bool IsView(const Draft& draft) const {
    if (draft.dynamic || draft.node->inputs.empty() || draft.node->inputs[0] < 0) return false;
    const SlotFacts& x = lowered_.slots[At(draft.node->inputs[0])];
    return x.is_static() && !x.is_known() && ViewOffsets(*draft.node, lowered_.slots).has_value();
  }

  // Returns whether the step can write its output to the memory of its inputs. Returns true for a Concat
  // whose inputs are contiguous slices of the output.
  bool Overwrites(const Draft& draft) const {
    if (draft.dynamic) return false;
    if (ConcatOffsets(*draft.node, lowered_.slots)) return true;
    if (!draft.entry || !draft.entry->can.in_place || !draft.node->node().op->Is(kInPlace)) return false;
    const Type& y = lowered_.slots[At(draft.node->outputs[0])].type;
    return std::any_of(draft.node->inputs.begin(), draft.node->inputs.end(), [&](int slot) {
      if (slot < bound_) return false;
      const Type& x = lowered_.slots[At(slot)].type;
      return x.dtype == y.dtype && x.shape == y.shape;
    });
  }

  const int bound_;
  const Lowered& lowered_;
  const std::vector<Draft>& drafts_;
  std::vector<int> base_,  // by slot: the slot whose memory it shares, or itself
      producer_;           // by slot: the draft that writes it, or -1
  int last_fixed_ = -1;    // the last dynamic or random draft, or -1; such drafts keep their relative order
  OrderProblem problem_;
};

}  // namespace

std::vector<Draft> OrderDrafts(int bound, const Lowered& lowered, const std::vector<Draft>& drafts) {
  const std::vector<int> order = FindOrder(ProblemMaker(bound, lowered, drafts).Make());
  if (std::is_sorted(order.begin(), order.end())) return drafts;
  std::vector<Draft> ordered, given = drafts;
  for (int i : order) ordered.push_back(drafts[static_cast<size_t>(i)]);
  std::vector<Draft> tried = ordered;
  const size_t before = ArenaBytes(MakeLayout(bound, lowered, given));
  return ArenaBytes(MakeLayout(bound, lowered, tried)) < before ? ordered : drafts;
}

size_t ArenaBytes(const Layout& layout) {
  std::vector<Block> blocks;
  for (const Storage& s : layout.storages)
    if (!s.external && s.parent < 0) blocks.push_back({s.bytes, s.first, s.last});
  return PlanOffsets(blocks).total;
}

}  // namespace tern
