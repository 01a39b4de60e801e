#include "runtime/plan/separable.h"

#include <algorithm>
#include <unordered_map>

namespace tern {
namespace {

class Items {
 public:
  Items(const PlanNode& node, const std::vector<SlotFacts>& slots)
      : node_(node), attrs_(node.node().attrs), slots_(slots), holds_(node.inputs.size()) {}

  std::optional<std::vector<bool>> Inputs() {
    if (!Plain() || !Separable()) return std::nullopt;
    for (size_t i = 0; i < holds_.size(); ++i)
      if (holds_[i] && Facts(node_.inputs[i]).is_known()) return std::nullopt;
    return std::move(holds_);
  }

 private:
  const SlotFacts& Facts(int slot) const { return slots_[static_cast<size_t>(slot)]; }
  bool Has(size_t i) const { return i < node_.inputs.size() && node_.inputs[i] >= 0; }
  bool Known(size_t i) const { return Has(i) && Facts(node_.inputs[i]).is_known(); }
  Dims InDims(size_t i) const { return Facts(node_.inputs[i]).type.shape.Concrete(); }
  Dims OutDims() const { return Facts(node_.outputs[0]).type.shape.Concrete(); }

  // Numbers of whole bytes and fixed dims, and the same items in all outputs.
  bool Plain() {
    if (node_.outputs.empty() || node_.inputs.empty() || !Has(0) || !node_.captures.empty()) return false;
    auto plain = [&](int slot) {
      return slot < 0 || (Facts(slot).is_static() && BitWidth(Facts(slot).type.dtype) >= 8);
    };
    if (!std::all_of(node_.inputs.begin(), node_.inputs.end(), plain) ||
        !std::all_of(node_.outputs.begin(), node_.outputs.end(), plain))
      return false;
    items_ = ItemsOf(node_, slots_);
    return items_ > 0 && std::all_of(node_.outputs.begin(), node_.outputs.end(), [&](int slot) {
             const Dims dims = Facts(slot).type.shape.Concrete();
             return !dims.empty() && dims[0] == items_;
           });
  }

  bool Separable() {
    const OpDef& op = *node_.node().op;
    if (!op.Is(kPure) || op.Is(kHostOnly)) return false;
    if (op.Is(kElementwise)) return Aligned();
    if (op.Is(kView)) return First() && InDims(0)[0] == items_;
    static const std::unordered_map<std::string_view, bool (Items::*)()> rules = {
        {"Conv", &Items::WithResidual},
        {"ConvTranspose", &Items::WithResidual},
        {"Pool", &Items::OneResult},
        {"GlobalPool", &Items::OneResult},
        {"BatchNorm", &Items::First},
        {"InstanceNorm", &Items::First},
        {"GroupNorm", &Items::First},
        {"Lrn", &Items::First},
        {"DepthToSpace", &Items::First},
        {"SpaceToDepth", &Items::First},
        {"Scale", &Items::AlongOtherAxis},
        {"Softmax", &Items::AlongOtherAxis},
        {"LayerNorm", &Items::Normalised},
        {"RmsNorm", &Items::Normalised},
        {"ArgReduce", &Items::AlongOtherAxis},
        {"Split", &Items::AlongOtherAxis},
        {"Concat", &Items::Joined},
        {"Transpose", &Items::Transposed},
        {"Reduce", &Items::Reduced},
        {"Resize", &Items::Resized},
        {"MatMul", &Items::Product},
    };
    const auto rule = rules.find(op.name);
    return rule != rules.end() && (this->*rule->second)();
  }

  bool Holds(size_t i) const {
    const Dims dims = InDims(i);
    return !dims.empty() && dims[0] == items_;
  }
  // Only the first input holds items.
  bool First() {
    holds_[0] = Holds(0);
    return holds_[0];
  }
  bool OneResult() { return node_.outputs.size() == 1 && First(); }
  // An operand that is spread over the result, as NumPy does.
  bool Spread(size_t i) {
    const Dims dims = InDims(i);
    if (dims.size() > OutDims().size()) return false;
    holds_[i] = dims.size() == OutDims().size() && dims[0] == items_ && items_ > 1;
    return holds_[i] || dims.size() < OutDims().size() || dims[0] == 1;
  }
  bool Aligned() {
    bool some = false;
    for (size_t i = 0; i < holds_.size(); ++i) {
      if (!Has(i)) continue;
      if (!Spread(i)) return false;
      some |= holds_[i];
    }
    return some;
  }
  bool WithResidual() {
    for (size_t i = 1; i < 3; ++i)
      if (Has(i) && !Known(i)) return false;
    return First() && (!Has(3) || Spread(3));
  }
  int64_t Axis() const {
    const int64_t axis = attrs_.Int("axis");
    return axis < 0 ? axis + static_cast<int64_t>(InDims(0).size()) : axis;
  }
  bool AlongOtherAxis() { return First() && Axis() != 0; }
  // Scale and bias are spread over x.
  bool Normalised() {
    for (size_t i = 1; i < holds_.size(); ++i)
      if (Has(i) && (!Spread(i) || holds_[i])) return false;
    return AlongOtherAxis();
  }
  bool Joined() {
    for (size_t i = 0; i < holds_.size(); ++i) {
      if (!Has(i) || !Holds(i)) return false;
      holds_[i] = true;
    }
    return Axis() != 0;
  }
  bool Transposed() {
    const auto perm = attrs_.Ints("perm");
    return First() && !perm.empty() && perm[0] == 0;
  }
  // Without axes all of them go, or none.
  bool Reduced() {
    if (!Known(1) || Facts(node_.inputs[1]).known.size() == 0) return false;
    const auto rank = static_cast<int64_t>(InDims(0).size());
    for (int64_t axis : ToLongs(Facts(node_.inputs[1]).known))
      if (axis == 0 || axis == -rank) return false;
    return First();
  }
  // The kernels look at dims only; the reference evaluator would read the sizes, which name all the items.
  bool Resized() {
    if (attrs_.Text("coordinates") == "tf_crop_and_resize" || attrs_.Text("aspect") != "stretch" ||
        Facts(node_.inputs[0]).type.dtype != DType::kF32 || !First())
      return false;
    const bool scaled = Has(2) && CountOf(InDims(2)) > 0;
    if (!scaled) return true;
    if (!Known(2)) return false;
    const auto axes = attrs_.Ints("axes");
    const auto at = axes.empty() ? axes.begin() : std::find_if(axes.begin(), axes.end(), [&](int64_t a) {
      return a == 0 || a == -static_cast<int64_t>(InDims(0).size());
    });
    if (!axes.empty() && at == axes.end()) return true;
    return LoadDouble(Facts(node_.inputs[2]).known, at - axes.begin()) == 1;
  }
  bool Product() {
    for (size_t i = 1; i < 3; ++i)
      if (Has(i) && !Known(i)) return false;
    return !attrs_.Bool("transpose_a") && InDims(0).size() >= 2 && InDims(1).size() == 2 && First() &&
           (!Has(3) || Spread(3));
  }

  const PlanNode& node_;
  const Attrs& attrs_;
  const std::vector<SlotFacts>& slots_;
  std::vector<bool> holds_;
  int64_t items_ = 0;
};

}  // namespace

int64_t ItemsOf(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  if (node.outputs.empty()) return 0;
  const SlotFacts& y = slots[static_cast<size_t>(node.outputs[0])];
  if (!y.is_static() || y.type.shape.rank() == 0) return 0;
  return y.type.shape.Concrete()[0];
}

std::optional<std::vector<bool>> ItemInputs(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  return Items(node, slots).Inputs();
}

}  // namespace tern
