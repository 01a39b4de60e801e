#include "runtime/plan/layout.h"

#include <algorithm>

#include "runtime/plan/views.h"

namespace tern {
namespace {

class LayoutMaker {
 public:
  LayoutMaker(int bound, const Lowered& lowered, std::vector<Draft>& drafts,
              const std::function<bool(const Draft&)>& row_stride)
      : bound_(bound),
        lowered_(lowered),
        slots_(lowered.slots),
        drafts_(drafts),
        row_stride_(row_stride),
        producer_(slots_.size(), -1),
        uses_(slots_.size()) {
    out_.places.resize(slots_.size());
  }

  Layout Make() {
    FindLastUses();
    for (int i = 0; i < bound_; ++i)
      if (Facts(i).is_static() && !Facts(i).is_known()) NewStorage(i, 0, true);
    for (size_t t = 0; t < drafts_.size(); ++t) Visit(drafts_[t], static_cast<int>(t));
    for (Place& p : out_.places) p = Resolve(p);
    return std::move(out_);
  }

 private:
  const SlotFacts& Facts(int slot) const { return slots_[static_cast<size_t>(slot)]; }
  Place& At(int slot) { return out_.places[static_cast<size_t>(slot)]; }
  Storage& StorageOf(int i) { return out_.storages[static_cast<size_t>(i)]; }

  Place Resolve(Place p) const {
    while (p.storage >= 0 && out_.storages[static_cast<size_t>(p.storage)].parent >= 0) {
      const Storage& s = out_.storages[static_cast<size_t>(p.storage)];
      p = {s.parent, p.offset + s.parent_offset};
    }
    return p;
  }

  void FindLastUses() {
    last_.assign(slots_.size(), -1);
    for (size_t t = 0; t < drafts_.size(); ++t) {
      auto use = [&](int slot) {
        if (slot >= 0) last_[static_cast<size_t>(slot)] = static_cast<int>(t);
      };
      auto read = [&](int slot) {
        use(slot);
        if (slot >= 0) ++uses_[static_cast<size_t>(slot)];
      };
      for (int slot : drafts_[t].node->inputs) read(slot);
      for (int slot : drafts_[t].node->outputs) use(slot);  // an unread output is alive in its own step
      for (const auto& captures : drafts_[t].node->captures)
        for (int slot : captures) read(slot);
    }
    for (int slot : lowered_.outputs) {
      last_[static_cast<size_t>(slot)] = static_cast<int>(drafts_.size());
      ++uses_[static_cast<size_t>(slot)];
    }
  }

  void NewStorage(int slot, int t, bool external = false) {
    At(slot) = {static_cast<int>(out_.storages.size()), 0};
    Storage storage{external, Facts(slot).bytes(), t, last_[static_cast<size_t>(slot)]};
    storage.memory = Facts(slot).type.memory;
    out_.storages.push_back(storage);
  }

  // Places the slot in a storage that another slot already has.
  void Share(int slot, Place place) {
    At(slot) = place;
    Storage& root = StorageOf(Resolve(place).storage);
    root.last = std::max(root.last, last_[static_cast<size_t>(slot)]);
  }

  void Visit(Draft& draft, int t) {
    const PlanNode& node = *draft.node;
    if (!draft.dynamic && !draft.is_transfer && !WritesState(node)) {
      if (TryView(draft)) return;
      if (TryConcat(draft, t)) return;
      if (TryConcatRows(draft, t)) return;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int slot = node.outputs[i];
      if (!Facts(slot).is_static()) continue;
      const bool state = lowered_.IsStateOutput(slot);
      const int input = i == 0 && !state ? InPlaceInput(draft, t) : -1;
      if (input >= 0)
        Share(slot, At(input));
      else
        NewStorage(slot, t, state);
      if (input < 0 && i == 0 && !draft.dynamic) producer_[static_cast<size_t>(slot)] = t;
    }
  }

  bool WritesState(const PlanNode& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](int slot) { return lowered_.IsStateOutput(slot); });
  }

  bool TryView(Draft& draft) {
    const PlanNode& node = *draft.node;
    if (node.inputs.empty() || node.inputs[0] < 0 || At(node.inputs[0]).storage < 0) return false;
    const auto offsets = ViewOffsets(node, slots_);
    if (!offsets) return false;
    const Place base = At(node.inputs[0]);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      Share(node.outputs[i], {base.storage, base.offset + (*offsets)[i]});
    draft.skip = true;
    return true;
  }

  // Returns the input that output 0 may overwrite, or -1. This step must be the last reader of this input,
  // and no other input of the step may share its memory. Only elementwise ops overwrite other inputs than the
  // first, or an input that they read twice.
  int InPlaceInput(const Draft& draft, int t) {
    const PlanNode& node = *draft.node;
    if (draft.dynamic || !draft.entry || !draft.entry->can.in_place || !node.node().op->Is(kInPlace))
      return -1;
    const SlotFacts& y = Facts(node.outputs[0]);
    for (int slot : node.inputs) {
      if (!node.node().op->Is(kElementwise) &&
          (slot != node.inputs[0] || std::count(node.inputs.begin(), node.inputs.end(), slot) > 1))
        break;
      if (slot < 0 || At(slot).storage < 0) continue;
      const SlotFacts& x = Facts(slot);
      const Storage& root = StorageOf(Resolve(At(slot)).storage);
      if (root.external || root.last > t || x.type.dtype != y.type.dtype || !(x.type.shape == y.type.shape) ||
          x.varying != y.varying || root.memory != y.type.memory)
        continue;
      if (!SharedWithin(node, slot)) return slot;
    }
    return -1;
  }

  bool SharedWithin(const PlanNode& node, int slot) {
    const int storage = Resolve(At(slot)).storage;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](int other) {
      return other >= 0 && other != slot && Resolve(At(other)).storage == storage;
    });
  }

  bool TryConcat(Draft& draft, int t) {
    const PlanNode& node = *draft.node;
    const auto offsets = ConcatOffsets(node, slots_);
    if (!offsets) return false;
    const int y = node.outputs[0];
    NewStorage(y, t);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int slot = node.inputs[i];
      if (Facts(slot).bytes() == 0) continue;
      if (!PlaceInside(slot, At(y).storage, (*offsets)[i])) draft.copies.emplace_back(slot, (*offsets)[i]);
    }
    draft.is_copy = true;
    draft.skip = draft.copies.empty();
    return true;
  }

  // Handles a Concat along the last axis. The kernel that computes an input writes it directly into the
  // result if the input has no other reader and the kernel can write with a row stride.
  bool TryConcatRows(Draft& draft, int t) {
    const PlanNode& node = *draft.node;
    if (!row_stride_ || node.node().op->name != "Concat" || Varies(node, slots_)) return false;
    const int y = node.outputs[0];
    const Type& type = Facts(y).type;
    const Dims dims = type.shape.Concrete();
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = node.node().attrs.Int("axis");
    if ((axis < 0 ? axis + rank : axis) != rank - 1 || CountOf(dims) == 0) return false;
    const auto can_stride = [&](int slot) { return CanStride(slot, type.dtype); };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), can_stride)) return false;
    NewStorage(y, t);
    size_t at = 0;
    for (int slot : node.inputs) {
      const auto row = static_cast<size_t>(Facts(slot).type.shape.Concrete().back());
      if (can_stride(slot) && PlaceInside(slot, At(y).storage, at))
        drafts_[static_cast<size_t>(producer_[static_cast<size_t>(slot)])].row_stride = dims.back();
      else if (row > 0)
        draft.copies.emplace_back(slot, at);
      at += BytesOf(type.dtype, row);
    }
    draft.is_copy = true;
    draft.skip = draft.copies.empty();
    return true;
  }

  bool CanStride(int slot, DType dtype) const {
    const auto at = static_cast<size_t>(slot);
    return slot >= 0 && producer_[at] >= 0 && uses_[at] == 1 && Facts(slot).type.dtype == dtype &&
           Facts(slot).bytes() > 0 && row_stride_(drafts_[static_cast<size_t>(producer_[at])]);
  }

  // Places the slot's storage inside the storage `parent`. Returns false if the slot is only a part of its
  // storage, or if the storage is external, inside another storage or in another memory.
  bool PlaceInside(int slot, int parent, size_t offset) {
    const Place place = At(slot);
    if (place.storage < 0 || place.offset != 0 || place.storage == parent) return false;
    Storage& part = StorageOf(place.storage);
    if (part.external || part.parent >= 0 || part.memory != StorageOf(parent).memory ||
        part.bytes != Facts(slot).bytes())
      return false;
    part.parent = parent;
    part.parent_offset = offset;
    Storage& full = StorageOf(parent);
    full.first = std::min(full.first, part.first);
    full.last = std::max(full.last, part.last);
    return true;
  }

  const int bound_;
  const Lowered& lowered_;
  const std::vector<SlotFacts>& slots_;
  std::vector<Draft>& drafts_;
  const std::function<bool(const Draft&)>& row_stride_;
  std::vector<int> producer_;  // by slot: the draft that writes it as output 0 to a new storage, or -1
  std::vector<int> uses_;      // by slot: number of reads, including outputs of the graph
  std::vector<int> last_;      // by slot: the last draft that uses it
  Layout out_;
};

}  // namespace

Layout MakeLayout(int bound, const Lowered& lowered, std::vector<Draft>& drafts,
                  const std::function<bool(const Draft&)>& row_stride) {
  return LayoutMaker(bound, lowered, drafts, row_stride).Make();
}

}  // namespace tern
