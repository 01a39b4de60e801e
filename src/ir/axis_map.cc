#include "ir/axis_map.h"

#include <algorithm>
#include <numeric>

namespace tern {

std::optional<std::vector<int64_t>> IntsOf(const Value* v) {
  if (!v || !v->is_constant() || !IsInt(v->constant.dtype())) return std::nullopt;
  return ToLongs(v->constant);
}

bool AllOnes(const Value* v) {
  const Shape& s = v->type.shape;
  return s.ranked && std::all_of(s.dims.begin(), s.dims.end(), [](const Dim& d) { return d.Is(1); });
}

int64_t MovedAxis(int64_t axis, const Permutation& perm) {
  if (axis < 0) axis += static_cast<int64_t>(perm.size());
  return std::find(perm.begin(), perm.end(), axis) - perm.begin();
}

void AxisRenaming::SetInput(size_t i, const std::vector<int64_t>& list) {
  if (inputs_.size() <= i) inputs_.resize(i + 1, nullptr);
  inputs_[i] = ints_(list);
}

void AxisRenaming::SetAttr(const char* name, const AttrValue& value) {
  TERN_CHECK(attrs_.Set(name, value).ok(), "no such attribute: ", name);
}

std::vector<int64_t> AxisRenaming::Moved(std::vector<int64_t> axes) const {
  for (int64_t& axis : axes) axis = MovedAxis(axis, perm_);
  return axes;
}

std::vector<int64_t> AxisRenaming::Reordered(const std::vector<int64_t>& lists) const {
  std::vector<int64_t> moved(lists.size());
  for (size_t i = 0; i < lists.size(); ++i) {
    const size_t list = i / perm_.size() * perm_.size();
    moved[i] = lists[list + static_cast<size_t>(perm_[i - list])];
  }
  return moved;
}

void AxisRenaming::MoveAxisAttr() { SetAttr("axis", MovedAxis(attrs_.Int("axis"), perm_)); }

void AxisRenaming::MoveAxesInput(size_t i) {
  if (Input(i)) SetInput(i, Moved(*IntsOf(Input(i))));
}

std::vector<int64_t> FirstAxes(size_t count) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::optional<AxisMap> FirstOperandAxes(const Node&) { return AxisMap{}; }
std::optional<AxisMap> FirstOperandLayout(const Node&) { return AxisMap{.any_order = false}; }
std::optional<AxisMap> BroadcastAxes(const Node&) {
  return AxisMap{.operands = AxisMap::Operands::kBroadcast};
}

void RenameAxisAttr(const Node&, AxisRenaming& renaming) { renaming.MoveAxisAttr(); }

}  // namespace tern
