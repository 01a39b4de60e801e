// If equal elementwise nodes compute all inputs of a Concat, replaces them by one node after the Concat.
// Does so only if the inputs are tiny.
#include <algorithm>

#include "passes/rewrite/dim_order.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

constexpr int64_t kTiny = 64;  // elements; the start of a kernel takes longer than their computation

// True for an elementwise op with one operand, or with several operands that broadcast.
bool IsElementwise(const Node& node) {
  if (!node.op->Is(kElementwise) || node.op->Is(kHostOnly)) return false;
  const auto map = AxisMapOf(node);
  return node.inputs().size() == 1 || (map && JoinsOperands(*map));
}

// True for at most kTiny elements. Unknown dims count as 1.
bool IsTiny(const Shape& shape) {
  int64_t count = 1;
  for (const Dim& d : shape.dims)
    if (d.known()) count *= std::min(d.value(), kTiny + 1);
  return count <= kTiny;
}

bool TakesEpilogue(const Value* v) {
  const Node* node = v->producer;
  return node && OnlyUse(v) && node->op->Is(kEpilogue);
}

// Expands the constant to the size of `part` along `axis`. The other dims of the result are 1. Returns null
// if the constant has more than one element along another axis.
Value* AlongAxis(Rewrite& r, Value* constant, const Shape& part, int axis) {
  const Tensor& t = constant->constant;
  const int missing = part.rank() - t.rank();
  if (missing < 0 || !part[axis].known()) return nullptr;
  for (int i = 0; i < t.rank(); ++i)
    if (t.dim(i) != 1 && i + missing != axis) return nullptr;
  std::vector<int64_t> dims(static_cast<size_t>(part.rank()), 1);
  dims[static_cast<size_t>(axis)] = t.size();
  Value* column = r.Op("Reshape", {constant, r.Ints(dims)});
  dims[static_cast<size_t>(axis)] = part[axis].value();
  return r.Op("Expand", {column, r.Ints(dims)});
}

class Joiner {
 public:
  Joiner(Rewrite& r, int axis) : r_(r), axis_(axis) {
    for (const Value* v : r.root().inputs()) makers_.push_back(v->producer);
  }

  // Emits a Concat of the k-th operands of all nodes. If these operands cannot be concatenated, calls Skip
  // with the reason and returns null.
  Value* Operand(size_t k) {
    std::vector<Value*> all;
    for (const Node* node : makers_) all.push_back(node->inputs()[k]);
    const bool constant = all[0]->is_constant();
    for (size_t i = 0; i < all.size(); ++i) {
      const Value* part = makers_[i]->output(0);
      if (all[i]->is_constant() != constant || all[i]->type.dtype != all[0]->type.dtype)
        return No("operands ", k, " differ in type, or only some of them are constant");
      if (constant) all[i] = AlongAxis(r_, all[i], part->type.shape, axis_);
      if (!all[i]) return No("a constant has several elements along another axis");
      if (!constant && !SameShape(all[i], part)) return No("'", all[i]->name, "' is broadcast");
      if (!constant && TakesEpilogue(all[i]))
        return No("'", part->name, "' can be fused into the node before it");
    }
    values_ += !constant;
    return r_.Op(*FindOp("Concat"), r_.root().attrs, all);
  }

  size_t values() const { return values_; }  // the number of Concats emitted for non-constant operands

 private:
  template <class... A> Value* No(const A&... reason) {
    r_.Skip(reason...);
    return nullptr;
  }

  Rewrite& r_;
  int axis_;
  std::vector<const Node*> makers_;
  size_t values_ = 0;
};

bool SameOp(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs().size() == b.inputs().size() && a.attrs == b.attrs;
}

bool MoveBehindConcat(Rewrite& r) {
  const Node& concat = r.root();
  const auto axis = AxisOf(concat.attrs.Int("axis"), concat.output(0));
  if (!axis) return r.Skip("the rank is not known");
  if (concat.output(0)->content) return r.Skip("the Concat computes a shape");
  const Node* first = concat.input(0)->producer;
  for (const Value* v : concat.inputs()) {
    if (!v->producer || v->producer->graph != concat.graph || !IsElementwise(*v->producer))
      return r.Skip("'", v->name, "' is not made by an elementwise op");
    if (!SameOp(*v->producer, *first))
      return r.Skip("'", v->name, "' is not made by the same op as the first input");
    if (!OnlyUse(v)) return r.Skip("'", v->name, "' is also read by another node");
    if (!v->type.shape.ranked || !IsTiny(v->type.shape)) return r.Skip("'", v->name, "' is not tiny");
  }
  Joiner joiner(r, *axis);
  std::vector<Value*> operands;
  for (size_t k = 0; k < first->inputs().size(); ++k) {
    if (!first->inputs()[k]) return r.Skip("an operand is absent");
    operands.push_back(joiner.Operand(k));
    if (!operands.back()) return false;
  }
  if (joiner.values() >= concat.inputs().size()) return r.Skip("the number of nodes would not decrease");
  return r.Replace(r.Op(*first->op, first->attrs, operands));
}

}  // namespace

TERN_RULE(MoveTinyOpsBehindConcat) {
  return Rule{.summary = "equal elementwise ops on tiny inputs of a Concat become one op after the Concat",
              .level = Level::kExtended,
              .roots = {"Concat"},
              .apply = MoveBehindConcat,
              .example = R"(graph @g(%a: f32[N,1], %b: f32[N,1], %c: f32[N,1]) -> (%y) {
  #k: f32[1] = (2)  #l: f32[1] = (3)  #m: f32[1] = (4)
  %y = Concat(%a * #k, %b * #l, %c * #m) {axis=1}
})"};
}

}  // namespace tern
