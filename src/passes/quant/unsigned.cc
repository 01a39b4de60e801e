#include "passes/quant/unsigned.h"

#include <algorithm>
#include <unordered_set>

#include "ops/quant/quantized.h"
#include "passes/rewrite/facts.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

constexpr int kOffset = 128;

// A quantized tensor of a node: its value, and the inputs that hold its scale and zero point.
struct Place {
  Value* value;
  int scale, zero;
};

// Returns the quantized tensors that the node makes or reads, except constants.
std::vector<Place> PlacesOf(const Node& node) {
  std::vector<Place> places;
  const auto add = [&](Value* v, int scale, int zero) {
    if (v && !v->is_constant()) places.push_back({v, scale, zero});
  };
  if (IsOp(node, "Quantize")) add(node.output(0), 1, 2);
  if (IsOp(node, "Dequantize")) add(node.input(0), 1, 2);
  const QuantizedForm* form = QuantizedFormOf(node.op->name);
  if (!form) return places;
  for (int i = 0; i < form->operands; ++i) add(node.input(3 * i), 3 * i + 1, 3 * i + 2);
  add(node.output(0), form->result(), form->result() + 1);
  if (form->has_epilogue) add(node.input(form->residual()), form->residual() + 1, form->residual() + 2);
  return places;
}

// True for an op whose outputs contain only elements of its data inputs.
bool Moves(const Node& node) {
  const Movement moves = node.op->movement.value_or(Movement{});
  return node.op->keeps_scale(node.attrs) && node.subgraphs().empty() &&
         moves.border != Movement::Border::kInput && node.outputs().size() == 1;
}

bool ReadsData(const Node& node, int input) {
  const Movement moves = node.op->movement.value_or(Movement{});
  return input >= moves.first && (moves.count == Movement::kAllInputs || input < moves.first + moves.count);
}

class Changer {
 public:
  explicit Changer(Graph& graph) : graph_(graph) {}

  Result<int> Run() {
    for (const auto& v : graph_.values())
      if (v->type.tensor() && v->type.dtype == DType::kI8 && v->producer && !v->is_constant())
        changes_.insert(v.get());
    RemoveFixed();
    if (changes_.empty()) return 0;
    for (const auto& node : graph_.nodes()) ChangeZeroPoints(*node);
    for (const Value* v : changes_) const_cast<Value*>(v)->type.dtype = DType::kU8;
    for (const auto& node : graph_.nodes()) TERN_TRY(InferNode(*node));
    return static_cast<int>(changes_.size());
  }

 private:
  // Removes values from changes_ until no remaining value is made or read by a node that does not allow it.
  void RemoveFixed() {
    for (bool removed = true; removed;) {
      removed = false;
      for (auto it = changes_.begin(); it != changes_.end();) {
        const bool allowed = Allowed(**it);
        removed |= !allowed;
        it = allowed ? std::next(it) : changes_.erase(it);
      }
    }
  }

  bool Allowed(const Value& v) const {
    if (v.output_uses > 0 || !AllowedBy(*v.producer, v, -1)) return false;
    return std::all_of(v.uses.begin(), v.uses.end(),
                       [&](const auto& use) { return AllowedBy(*use.first, v, use.second); });
  }

  // `input` is the index of the input that reads v, or -1 if the node makes v.
  bool AllowedBy(const Node& node, const Value& v, int input) const {
    if (node.graph != &graph_) return false;
    if (Moves(node)) return MovesOnlyChanges(node) && (input < 0 || ReadsData(node, input));
    if (input >= 0 && !ReadsPlace(node, v, input)) return false;
    const auto places = PlacesOf(node);
    const auto changeable = [&](const Place& p) {
      return (!node.input(p.zero) || node.input(p.zero)->is_constant()) && node.input(p.scale) &&
             node.input(p.scale)->type.shape.fully_known();
    };
    bool found = false, all = true;
    for (const Place& p : places) {
      found |= p.value == &v;
      // ChangeZeroPoints also writes the zero point of a result whose type follows from the type of x.
      const bool implied = !node.input(p.zero) && p.value == node.output(0) && IsQuantizedType(p.value);
      all = all && ((p.value != &v && !implied) || changeable(p));
    }
    return found && all;
  }
  static bool IsQuantizedType(const Value* v) { return v->type.dtype != DType::kF32; }

  // Returns whether the input reads v as data, and not as a scale or zero point.
  static bool ReadsPlace(const Node& node, const Value& v, int input) {
    const auto places = PlacesOf(node);
    return node.input(input) == &v && std::none_of(places.begin(), places.end(), [&](const Place& p) {
             return p.zero == input || p.scale == input;
           });
  }

  bool MovesOnlyChanges(const Node& node) const {
    bool all = changes_.count(node.output(0)) > 0;
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (ReadsData(node, static_cast<int>(i))) all = all && changes_.count(node.inputs()[i]) > 0;
    return all;
  }

  void ChangeZeroPoints(Node& node) {
    if (Moves(node)) return;
    for (const Place& p : PlacesOf(node)) {
      const bool change = changes_.count(p.value) > 0;
      const bool implied = !node.input(p.zero) && p.value == node.output(0) && !IsOp(node, "Quantize");
      // Without a zero point, the result has the type of x. If the type of x changes and the result's type
      // does not, the result needs a zero point of its old type.
      if (change || (implied && changes_.count(node.input(0)) > 0 && IsQuantizedType(p.value)))
        node.SetInput(p.zero, graph_.AddConstant(ZeroPoint(node, p, change)));
    }
    if (IsOp(node, "Quantize") && changes_.count(node.output(0))) SetAttr(node.attrs, "to", DType::kU8);
  }

  static Tensor ZeroPoint(const Node& node, const Place& p, bool change) {
    const Value* zero = node.input(p.zero);
    const Dims dims = node.input(p.scale)->type.shape.Concrete();
    Tensor to(change ? DType::kU8 : p.value->type.dtype, zero ? zero->constant.dims() : dims);
    for (int64_t i = 0; i < to.size(); ++i)
      StoreLong(to, i, (zero ? LoadLong(zero->constant, i) : 0) + (change ? kOffset : 0));
    return to;
  }

  Graph& graph_;
  std::unordered_set<const Value*> changes_;
};

}  // namespace

Result<int> UnsignedActivations(Graph& graph, PassContext& context) {
  int changed = 0;
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) {
      TERN_ASSIGN(const int inside, UnsignedActivations(*sub, context));
      changed += inside;
    }
  TERN_ASSIGN(const int own, Changer(graph).Run());
  return changed + own;
}

}  // namespace tern
