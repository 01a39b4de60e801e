#include "passes/rewrite/dim_order.h"
#include "passes/rewrite/set_attrs.h"

#include <algorithm>
#include <numeric>

namespace tern {
namespace {

using MakeInts = std::function<Value*(const std::vector<int64_t>&)>;

// The attribute `axis` speaks of the first operand's dims; of one scale for all elements it says nothing.
bool HasAxis(const Node& node) {
  if (IsOneOf(node, {"Quantize", "Dequantize"})) return !AllOnes(node.input(1));
  return IsOneOf(node, {"Softmax", "Split", "Scale", "Concat", "Gather", "ArgReduce"});
}

// Axes that are given, or all of those that a list of known length speaks of.
bool KnowsAxes(const Value* axes, const Value* list) {
  return axes ? IntsOf(axes).has_value() : list->type.shape.rank() == 1 && list->type.shape[0].known();
}

std::vector<int64_t> Moved(std::vector<int64_t> axes, const Permutation& perm) {
  for (int64_t& axis : axes) axis = MovedAxis(axis, perm);
  return axes;
}

std::vector<int64_t> FirstAxes(size_t count) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Lists with one element per dim, one after the other.
std::vector<int64_t> Reordered(const std::vector<int64_t>& lists, const Permutation& perm) {
  std::vector<int64_t> moved(lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    const size_t list = i / perm.size() * perm.size();
    moved[i] = lists[list + static_cast<size_t>(perm[i - list])];
  }
  return moved;
}

void MoveSliceAxes(const Permutation& perm, const MakeInts& ints, std::vector<Value*>& inputs) {
  if (inputs.size() < 4) inputs.resize(4, nullptr);
  const auto axes =
      inputs[3] ? *IntsOf(inputs[3]) : FirstAxes(static_cast<size_t>(inputs[1]->type.shape[0].value()));
  inputs[3] = ints(Moved(axes, perm));
}

void MovePadAxes(const Permutation& perm, const MakeInts& ints, std::vector<Value*>& inputs) {
  if (inputs.size() > 3 && inputs[3])
    inputs[3] = ints(Moved(*IntsOf(inputs[3]), perm));
  else
    inputs[1] = ints(Reordered(*IntsOf(inputs[1]), perm));
}

}  // namespace

bool IsOneOf(const Node& node, std::initializer_list<std::string_view> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return node.op->name == op; });
}

bool AllOnes(const Value* v) {
  const Shape& s = v->type.shape;
  return s.ranked && std::all_of(s.dims.begin(), s.dims.end(), [](const Dim& d) { return d.Is(1); });
}

bool BroadcastsOperands(const Node& node) { return IsOneOf(node, {"Binary", "QBinary", "Where", "Eltwise"}); }

bool FollowsFirst(const Node& node) {
  if (IsOneOf(node, {"Unary", "QUnary", "Activation", "QActivation", "Gelu", "IsInf", "Cast", "Clip",
                     "Softmax", "Split"}))
    return true;
  if (IsOneOf(node, {"Quantize", "Dequantize"})) return node.attrs.Int("block_size") == 0;
  if (IsOp(node, "Reduce")) return node.attrs.Bool("keep_dims") && (!node.input(1) || IntsOf(node.input(1)));
  if (IsOp(node, "Slice")) return KnowsAxes(node.input(3), node.input(1));
  if (IsOp(node, "Pad"))
    return IntsOf(node.input(1)).has_value() && (!node.input(3) || IntsOf(node.input(3)));
  return false;
}

int64_t MovedAxis(int64_t axis, const Permutation& perm) {
  if (axis < 0) axis += static_cast<int64_t>(perm.size());
  return std::find(perm.begin(), perm.end(), axis) - perm.begin();
}

void MoveAxes(const Node& node, const Permutation& perm, const MakeInts& ints, Attrs& attrs,
              std::vector<Value*>& inputs) {
  if (HasAxis(node)) SetAttr(attrs, "axis", MovedAxis(attrs.Int("axis"), perm));
  if (IsOp(node, "Reduce") && inputs.size() > 1 && inputs[1])
    inputs[1] = ints(Moved(*IntsOf(inputs[1]), perm));
  if (IsOp(node, "Slice")) MoveSliceAxes(perm, ints, inputs);
  if (IsOp(node, "Pad")) MovePadAxes(perm, ints, inputs);
  if (IsOp(node, "Tile")) inputs[1] = ints(Reordered(*IntsOf(inputs[1]), perm));
  if (IsOp(node, "Resize")) {
    const std::vector<int64_t> axes = attrs.Ints("axes");
    SetAttr(attrs, "axes", Moved(axes.empty() ? FirstAxes(perm.size()) : axes, perm));
  }
}

}  // namespace tern
