#include "runtime/plan/batch_split.h"

#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "runtime/plan/separable.h"

namespace tern {
namespace {

constexpr int64_t kMaxSlices = 64;  // each slice adds steps to the plan
// The overhead of a step takes as long as moving this many bytes per byte of the cache.
constexpr double kStepCost = 1. / 128;

// The nodes with indices in [begin, end), which process `slice_items` items at a time.
struct Run {
  size_t begin = 0, end = 0;
  int64_t slice_items = 0;
  double saved = 0;  // bytes of memory traffic that splitting saves
};

class BatchSplitter {
 public:
  BatchSplitter(Lowered& lowered, BatchSlices& slices, size_t cache)
      : lowered_(lowered), slots_(lowered.slots), slices_(slices), cache_(static_cast<double>(cache)) {}

  void Split() {
    Measure();
    std::vector<Run> runs;
    for (size_t i = 0; i < lowered_.nodes.size();) {
      const size_t end = EndOfRun(i);
      if (end > i + 1) Choose(i, end, runs);
      i = std::max(end, i + 1);
    }
    if (runs.empty()) return;
    std::vector<PlanNode> nodes;
    size_t at = 0;
    for (const Run& run : runs) {
      for (; at < run.begin; ++at) nodes.push_back(lowered_.nodes[at]);
      Repeat(run, nodes);
      at = run.end;
    }
    for (; at < lowered_.nodes.size(); ++at) nodes.push_back(lowered_.nodes[at]);
    lowered_.nodes = std::move(nodes);
  }

 private:
  struct Measured {
    int64_t items = 0;            // number of items of the batch; 0 if the node cannot be split
    std::vector<bool> has_items;  // by input: whether its outermost dim is the batch
    // `values` is the size in bytes of the operands that have items. `weights` is the size of the other
    // operands.
    double values = 0, weights = 0;
  };

  double Bytes(int slot) const { return static_cast<double>(slots_[static_cast<size_t>(slot)].bytes()); }

  void Measure() {
    for (const PlanNode& node : lowered_.nodes) {
      Measured& m = measured_.emplace_back();
      auto has_items = ItemInputs(node, slots_);
      if (!has_items || ItemsOf(node, slots_) < 2) continue;
      m.items = ItemsOf(node, slots_);
      m.has_items = std::move(*has_items);
      if (node.node().op->Is(kView)) continue;
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] >= 0) (m.has_items[i] ? m.values : m.weights) += Bytes(node.inputs[i]);
      for (int slot : node.outputs) m.values += Bytes(slot);
    }
  }

  // Returns the end of the longest sequence that starts at `begin` and can be split as a whole. All its nodes
  // have the same number of items. No node reads all items of a value that an earlier node of the sequence
  // writes in slices.
  size_t EndOfRun(size_t begin) const {
    std::map<int, bool> written;
    size_t i = begin;
    for (; i < measured_.size() && measured_[i].items > 0 && measured_[i].items == measured_[begin].items;
         ++i) {
      const PlanNode& node = lowered_.nodes[i];
      for (size_t k = 0; k < node.inputs.size(); ++k)
        if (!measured_[i].has_items[k] && written.count(node.inputs[k])) return i;
      for (int slot : node.outputs) written[slot] = true;
    }
    return i;
  }

  double Saved(const Measured& m, int64_t size) const {
    const double slices = static_cast<double>((m.items + size - 1) / size);
    const double slice = m.values * static_cast<double>(size) / static_cast<double>(m.items);
    const double saved = m.values > cache_ && slice <= cache_ ? m.values : 0;
    return saved - (slices - 1) * (m.weights + kStepCost * cache_);
  }

  // Chooses the subsequence of [begin, end) and the slice size that save the most memory traffic. Then
  // recurses into the nodes before and after this subsequence.
  void Choose(size_t begin, size_t end, std::vector<Run>& runs) const {
    const int64_t items = measured_[begin].items;
    Run best;
    best.saved = cache_;
    for (int64_t size = 1; size <= items / 2; size *= 2) {
      if ((items + size - 1) / size > kMaxSlices) continue;
      double saved = 0;
      size_t first = begin;
      for (size_t i = begin; i < end; ++i) {
        if (saved <= 0) saved = 0, first = i;
        saved += Saved(measured_[i], size);
        if (saved > best.saved && i > first) best = {first, i + 1, size, saved};
      }
    }
    if (best.slice_items == 0) return;
    if (best.begin > begin + 1) Choose(begin, best.begin, runs);
    runs.push_back(best);
    if (best.end + 1 < end) Choose(best.end, end, runs);
  }

  std::vector<int64_t> Sizes(const Run& run) const {
    const int64_t items = measured_[run.begin].items;
    std::vector<int64_t> sizes;
    for (int64_t at = 0; at < items; at += run.slice_items)
      sizes.push_back(std::min(run.slice_items, items - at));
    return sizes;
  }

  // Adds a slot for each slice of this slot's value.
  std::vector<int> SlicesOf(int slot, const std::vector<int64_t>& sizes) {
    std::vector<int> slices;
    for (int64_t size : sizes) {
      const Type& full = slots_[static_cast<size_t>(slot)].type;
      Dims dims = full.shape.Concrete();
      dims[0] = size;
      SlotFacts facts;
      facts.type = Type::TensorOf(full.dtype, Shape::Of(dims));
      slices.push_back(static_cast<int>(slots_.size()));
      slots_.push_back(std::move(facts));
    }
    return slices;
  }

  // Creates a Split or Concat between a full value and its slices.
  PlanNode AddNode(const char* op, const std::vector<int>& inputs, const std::vector<int>& outputs) {
    auto& graph = slices_.graphs.emplace_back(std::make_unique<Graph>("slices of a batch"));
    std::vector<Value*> values;
    for (int slot : inputs) values.push_back(graph->AddInput("", slots_[static_cast<size_t>(slot)].type));
    Builder(*graph).Open(op, values, {{"axis", int64_t{0}}}, static_cast<int>(outputs.size()));
    auto& program = slices_.programs.emplace_back(std::make_unique<NodeProgram>());
    program->node = graph->nodes().back().get();
    return {program.get(), inputs, outputs, {}};
  }

  void Repeat(const Run& run, std::vector<PlanNode>& nodes) {
    const std::vector<int64_t> sizes = Sizes(run);
    std::map<int, std::vector<int>> parts;  // slots of the slices, by the slot of the full value
    std::vector<int> written;
    for (size_t i = run.begin; i < run.end; ++i) {
      const PlanNode& node = lowered_.nodes[i];
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        const int slot = node.inputs[k];
        if (!measured_[i].has_items[k] || parts.count(slot)) continue;
        parts[slot] = SlicesOf(slot, sizes);
        nodes.push_back(AddNode("Split", {slot}, parts[slot]));
      }
      for (int slot : node.outputs) {
        parts[slot] = SlicesOf(slot, sizes);
        written.push_back(slot);
      }
    }
    for (size_t slice = 0; slice < sizes.size(); ++slice)
      for (size_t i = run.begin; i < run.end; ++i) {
        PlanNode node = lowered_.nodes[i];
        for (size_t k = 0; k < node.inputs.size(); ++k)
          if (measured_[i].has_items[k]) node.inputs[k] = parts[node.inputs[k]][slice];
        for (int& slot : node.outputs) slot = parts[slot][slice];
        node.share = static_cast<double>(sizes[slice]) / static_cast<double>(measured_[run.begin].items);
        nodes.push_back(std::move(node));
      }
    for (int slot : written)
      if (ReadOutside(slot, run)) nodes.push_back(AddNode("Concat", parts[slot], {slot}));
  }

  bool ReadOutside(int slot, const Run& run) const {
    const auto reads = [&](const std::vector<int>& list) {
      return std::find(list.begin(), list.end(), slot) != list.end();
    };
    if (reads(lowered_.outputs)) return true;
    for (size_t i = run.end; i < lowered_.nodes.size(); ++i) {
      const PlanNode& node = lowered_.nodes[i];
      if (reads(node.inputs) || std::any_of(node.captures.begin(), node.captures.end(), reads)) return true;
    }
    return false;
  }

  Lowered& lowered_;
  std::vector<SlotFacts>& slots_;
  BatchSlices& slices_;
  const double cache_;
  std::vector<Measured> measured_;  // by node
};

}  // namespace

void SplitBatch(Lowered& lowered, BatchSlices& slices, size_t cache) {
  if (!FindOp("Split") || !FindOp("Concat")) return;  // a mini build may leave them out
  BatchSplitter(lowered, slices, cache).Split();
}

}  // namespace tern
