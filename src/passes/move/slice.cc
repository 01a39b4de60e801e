// Moves Slice and Gather before elementwise ops, which then compute fewer elements.
#include <algorithm>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool IsVariable(const Value* v) { return v && !v->is_constant(); }

// True for an elementwise op with one non-constant operand.
bool IsPointwise(const Node& node) {
  return node.op->Is(kElementwise) && !node.op->Is(kHostOnly) &&
         std::count_if(node.inputs().begin(), node.inputs().end(), IsVariable) == 1;
}

// Returns the index of the operand that is not constant.
int MainInput(const Node& node) {
  return static_cast<int>(std::find_if(node.inputs().begin(), node.inputs().end(), IsVariable) -
                          node.inputs().begin());
}

// True if the constant operands have one element along each sliced axis, so that they need not be sliced.
bool FitsAnyPart(const Node& node, int main, const std::vector<int64_t>& axes) {
  const int rank = node.output(0)->type.shape.rank();
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.inputs()[i];
    if (!v || static_cast<int>(i) == main) continue;
    const int missing = rank - v->constant.rank();
    for (int64_t a : axes)
      if (a >= missing && v->constant.dim(static_cast<int>(a) - missing) != 1) return false;
  }
  return true;
}

// Returns the elementwise node that produces the root's input. If this node cannot move after the root,
// calls Skip with the reason and returns null.
Node* Movable(Rewrite& r) {
  Value* v = r.root().input(0);
  Node* node = v->producer;
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return nullptr;
  };
  if (!node || !IsPointwise(*node))
    return no("'", v->name, "' is not made by an elementwise op with one non-constant operand");
  if (!OnlyUse(v)) return no("'", v->name, "' is also read by another node");
  if (node->graph != &r.graph()) return no("'", v->name, "' is made outside of this graph");
  Value* x = node->input(MainInput(*node));
  if (!SameShape(x, v)) return no("'", v->name, "' has a larger shape than '", x->name, "'");
  if (x->producer && x->producer->op->Is(kEpilogue) && OnlyUse(x))
    return no("'", v->name, "' can be fused into ", x->producer->op->name);
  return node;
}

// Emits the node with the sliced input.
bool Finish(Rewrite& r, const Node& node, Value* part) {
  std::vector<Value*> inputs = node.inputs();
  inputs[static_cast<size_t>(MainInput(node))] = part;
  return r.Replace(r.Op(*node.op, node.attrs, inputs));
}

bool MoveSlice(Rewrite& r) {
  Node* node = Movable(r);
  if (!node) return false;
  Node& slice = r.root();
  const int rank = slice.output(0)->type.shape.rank();
  std::vector<int64_t> axes;
  if (slice.input(3)) {
    const auto given = IntsOf(slice.input(3));
    if (!given) return r.Skip("the axes are not known");
    for (int64_t a : *given) axes.push_back(a < 0 ? a + rank : a);
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  if (!FitsAnyPart(*node, MainInput(*node), axes)) return r.Skip("a constant would have to be sliced too");
  std::vector<Value*> inputs = slice.inputs();
  inputs[0] = node->input(MainInput(*node));
  return Finish(r, *node, r.Op(*slice.op, slice.attrs, inputs));
}

bool MoveGather(Rewrite& r) {
  Node* node = Movable(r);
  if (!node) return false;
  Node& gather = r.root();
  const auto axis = AxisOf(gather.attrs.Int("axis"), gather.input(0));
  const auto before = CountOf(gather.input(0)), after = CountOf(gather.output(0));
  const Shape& indices = gather.input(1)->type.shape;
  const bool single = indices.rank() == 0 || (indices.rank() == 1 && indices[0].Is(1));
  if (!axis || (!single && !(before && after && *after <= *before)))
    return r.Skip("the result may be larger than the input");
  // After the move, a constant must match the sliced tensor. This is certain only if it has one element.
  for (const Value* v : node->inputs())
    if (v && v->is_constant() && v->constant.size() != 1)
      return r.Skip("a constant would have to be sliced too");
  for (const Value* v : node->inputs())
    if (v && v->is_constant() && v->constant.rank() > gather.output(0)->type.shape.rank())
      return r.Skip("a constant has more axes than the result");
  Value* part = r.Op(*gather.op, gather.attrs, {node->input(MainInput(*node)), gather.input(1)});
  return Finish(r, *node, part);
}

}  // namespace

TERN_RULE(MoveSliceBeforeElementwise) {
  return Rule{.summary = "a Slice moves before an elementwise op",
              .level = Level::kExtended,
              .roots = {"Slice"},
              .apply = MoveSlice,
              .example = R"(graph @g(%x: f32[8,4]) -> (%y) {
  #c: f32[] = (3)  #from: i64[1] = (0)  #to: i64[1] = (1)  #axis: i64[1] = (0)
  %y = Slice(%x * #c, #from, #to, #axis)
})"};
}
TERN_RULE(MoveGatherBeforeElementwise) {
  return Rule{.summary = "a Gather moves before an elementwise op",
              .level = Level::kExtended,
              .roots = {"Gather"},
              .apply = MoveGather,
              .example = R"(graph @g(%x: f32[8,4]) -> (%y) {
  #at: i64[] = (0)
  %y = Gather(Tanh(%x), #at)
})"};
}

}  // namespace tern
