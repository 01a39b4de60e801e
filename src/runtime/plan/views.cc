#include "runtime/plan/views.h"

#include <algorithm>

namespace tern {
namespace {

using Slots = std::vector<SlotFacts>;

const SlotFacts& At(const Slots& slots, int slot) { return slots[static_cast<size_t>(slot)]; }

// A count of elements as bytes; nothing when it ends inside a byte.
std::optional<size_t> WholeBytes(DType dtype, int64_t count) {
  const int64_t bits = count * BitWidth(dtype);
  if (bits % 8) return std::nullopt;
  return static_cast<size_t>(bits / 8);
}

bool Outermost(const Dims& dims, int64_t axis) {
  return std::all_of(dims.begin(), dims.begin() + axis, [](int64_t d) { return d == 1; });
}

int64_t AxisOf(const PlanNode& node, const Dims& dims) {
  const int64_t axis = node.node().attrs.Int("axis");
  return axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
}

// Where pieces that lie side by side along the node's axis begin in the whole, in bytes.
std::optional<std::vector<size_t>> PieceOffsets(const PlanNode& node, const Slots& slots, int whole,
                                                const std::vector<int>& pieces) {
  const Type& type = At(slots, whole).type;
  const Dims dims = type.shape.Concrete();
  if (!Outermost(dims, AxisOf(node, dims))) return std::nullopt;
  std::vector<size_t> offsets;
  int64_t at = 0;
  for (int slot : pieces) {
    const auto bytes = WholeBytes(type.dtype, at);
    if (!bytes || slot < 0) return std::nullopt;
    offsets.push_back(*bytes);
    at += CountOf(At(slots, slot).type.shape.Concrete());
  }
  return offsets;
}

std::vector<int64_t> LongsOr(const PlanNode& node, const Slots& slots, size_t input,
                             std::vector<int64_t> otherwise) {
  if (input >= node.inputs.size() || node.inputs[input] < 0) return otherwise;
  return ToLongs(At(slots, node.inputs[input]).known);
}

bool KnownOrAbsent(const PlanNode& node, const Slots& slots, size_t input) {
  return input >= node.inputs.size() || node.inputs[input] < 0 || At(slots, node.inputs[input]).is_known();
}

// One contiguous piece: nothing but ones before the axis that is cut, nothing cut after it.
bool Contiguous(const Dims& whole, const Dims& piece) {
  size_t axis = 0;
  while (axis < piece.size() && piece[axis] == 1) ++axis;
  for (size_t i = axis + 1; i < piece.size(); ++i)
    if (piece[i] != whole[i]) return false;
  return true;
}

std::optional<std::vector<size_t>> SliceOffsets(const PlanNode& node, const Slots& slots) {
  for (size_t i = 1; i < 5; ++i)
    if (!KnownOrAbsent(node, slots, i)) return std::nullopt;
  const SlotFacts& x = At(slots, node.inputs[0]);
  const Dims dims = x.type.shape.Concrete(), strides = ContiguousStrides(dims);
  const auto rank = static_cast<int64_t>(dims.size());
  const auto starts = ToLongs(At(slots, node.inputs[1]).known);
  std::vector<int64_t> every;
  for (size_t i = 0; i < starts.size(); ++i) every.push_back(static_cast<int64_t>(i));
  const auto axes = LongsOr(node, slots, 3, every);
  const auto steps = LongsOr(node, slots, 4, std::vector<int64_t>(starts.size(), 1));
  if (axes.size() != starts.size() || steps.size() != starts.size()) return std::nullopt;
  int64_t at = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
    if (steps[i] != 1 || axis >= dims.size()) return std::nullopt;
    const int64_t start = starts[i] < 0 ? starts[i] + dims[axis] : starts[i];
    at += std::clamp<int64_t>(start, 0, dims[axis]) * strides[axis];
  }
  const Dims piece = At(slots, node.outputs[0]).type.shape.Concrete();
  const auto bytes = WholeBytes(x.type.dtype, at);
  if (!bytes || CountOf(piece) == 0 || !Contiguous(dims, piece)) return std::nullopt;
  return std::vector<size_t>{*bytes};
}

std::optional<std::vector<size_t>> GatherOffsets(const PlanNode& node, const Slots& slots) {
  const SlotFacts& indices = At(slots, node.inputs[1]);
  if (!indices.is_known() || indices.known.size() != 1) return std::nullopt;
  const SlotFacts& x = At(slots, node.inputs[0]);
  const Dims dims = x.type.shape.Concrete();
  const int64_t axis = AxisOf(node, dims);
  if (!Outermost(dims, axis) || CountOf(dims) == 0) return std::nullopt;
  const int64_t length = dims[static_cast<size_t>(axis)];
  int64_t index = LoadLong(indices.known, 0);
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  const auto bytes = WholeBytes(x.type.dtype, index * ContiguousStrides(dims)[static_cast<size_t>(axis)]);
  return bytes ? std::optional(std::vector<size_t>{*bytes}) : std::nullopt;
}

// Nothing but axes of length 1 changes its place.
std::optional<std::vector<size_t>> TransposeOffsets(const PlanNode& node, const Slots& slots) {
  const Dims dims = At(slots, node.inputs[0]).type.shape.Concrete();
  std::vector<int64_t> perm = node.node().attrs.Ints("perm");
  if (perm.empty())
    for (size_t i = dims.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  int64_t last = -1;
  for (int64_t from : perm) {
    const int64_t axis = from < 0 ? from + static_cast<int64_t>(dims.size()) : from;
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return std::nullopt;
    last = axis;
  }
  return std::vector<size_t>{0};
}

}  // namespace

std::optional<std::vector<size_t>> ViewOffsets(const PlanNode& node, const Slots& slots) {
  const OpDef& op = *node.node().op;
  if (op.Is(kView)) return std::vector<size_t>(node.outputs.size(), 0);
  if (Varies(node, slots)) return std::nullopt;  // offsets would depend on the length
  if (op.name == "Split") return PieceOffsets(node, slots, node.inputs[0], node.outputs);
  if (op.name == "Slice") return SliceOffsets(node, slots);
  if (op.name == "Gather") return GatherOffsets(node, slots);
  if (op.name == "Transpose") return TransposeOffsets(node, slots);
  return std::nullopt;
}

std::optional<std::vector<size_t>> ConcatOffsets(const PlanNode& node, const Slots& slots) {
  if (node.node().op->name != "Concat" || Varies(node, slots)) return std::nullopt;
  return PieceOffsets(node, slots, node.outputs[0], node.inputs);
}

}  // namespace tern
