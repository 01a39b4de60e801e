// Makes Shape nodes read a graph input or another early tensor that has the same dims, so that no tensor is
// computed only for its shape.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Returns i if the wanted dims are dims i, i + 1, … of v. Returns nullopt if there is no such i.
std::optional<int64_t> Find(const Content& wanted, const Value& v) {
  if (!v.type.tensor() || !v.type.shape.ranked) return std::nullopt;
  const auto& dims = v.type.shape.dims;
  const auto it = std::search(dims.begin(), dims.end(), wanted.begin(), wanted.end());
  return it == dims.end() ? std::nullopt : std::optional<int64_t>(it - dims.begin());
}

// Follows the first input of each producer, from v to a Shape node. Returns the tensor that this Shape node
// reads, or null if there is no such node.
Value* Measured(const Value* v) {
  for (int steps = 0; v->producer && steps < 8; ++steps) {
    if (IsOp(*v->producer, "Shape")) return v->producer->input(0);
    if (v->producer->inputs().empty() || !v->producer->input(0)) return nullptr;
    v = v->producer->input(0);
  }
  return nullptr;
}

// If an elementwise op produces v, returns an operand of the op that is not constant and has the dims of v.
// Otherwise returns null.
Value* SameSizedOperand(const Value* v) {
  if (!v->producer || !v->producer->op->Is(kElementwise)) return nullptr;
  for (Value* x : v->producer->inputs())
    if (x && !x->is_constant() && SameShape(x, v)) return x;
  return nullptr;
}

// Returns a tensor with these dims, or null. A graph input is the first choice. The second choice is the
// tensor that Measured returns, or an operand from which elementwise ops compute this tensor.
Value* SourceOf(const Content& wanted, const Node& root) {
  for (const Graph* graph = root.graph; graph; graph = graph->parent)
    for (Value* v : graph->inputs())
      if (Find(wanted, *v)) return v;
  Value* x = Measured(root.output(0));
  while (x)
    if (Value* before = SameSizedOperand(x))
      x = before;
    else
      break;
  return x && Find(wanted, *x) ? x : nullptr;
}

// Emits a Gather of one dim from the full Shape of the source. Gathers of other dims can read the same Shape
// node.
bool ReadDim(Rewrite& r, const Content& wanted) {
  const Node& root = r.root();
  if (!IsOp(root, "Gather")) return r.Skip("the result is a scalar, but the node is not a Gather");
  Value* x = SourceOf(wanted, root);
  const Node* shape = MadeBy(root.input(0), "Shape");
  if (!x) return r.Skip("no tensor has this dim");
  if (shape && shape->input(0) == x) return r.Skip("the dims are already read at the source");
  return r.Replace(
      r.Op("Gather", {r.Op("Shape", {x}), r.Scalar(DType::kI64, static_cast<double>(*Find(wanted, *x)))}));
}

bool ReadShapeAtSource(Rewrite& r) {
  const Node& root = r.root();
  const Value* y = root.output(0);
  const auto wanted = ContentOf(y);
  if (y->type.dtype != DType::kI64 || !y->type.shape.ranked || !wanted || wanted->empty())
    return r.Skip("the elements are not known to be dims");
  if (std::all_of(wanted->begin(), wanted->end(), [](const Dim& d) { return d.known(); }))
    return r.Skip("all elements are known numbers");
  if (y->type.shape.rank() == 0) return ReadDim(r, *wanted);
  Value* x = SourceOf(*wanted, root);
  if (!x) return r.Skip("no tensor has these dims consecutively");
  const int64_t start = *Find(*wanted, *x), end = start + static_cast<int64_t>(wanted->size());
  if (IsOp(root, "Shape") && root.input(0) == x) return r.Skip("the dims are already read at the source");
  return r.Replace(r.Op("Shape", {x}, {{"start", start}, {"end", end}}));
}

}  // namespace

TERN_RULE(ReadShapeAtSource) {
  return Rule{.summary =
                  "a Shape reads its dims from a graph input if possible, else from the earliest tensor "
                  "that has them",
              .roots = {"Shape", "Concat", "Unsqueeze", "Reshape", "Gather", "Slice", "Cast", "Squeeze",
                        "Binary", "Where"},
              .apply = ReadShapeAtSource,
              .example = R"(graph @g(%x: f32[N,S,4]) -> (%y) {
  #one: i64[] = (1)  #zero: i64[1] = (0)
  %y = Unsqueeze(Gather(Shape(Relu(%x)), #one), #zero)
})"};
}

}  // namespace tern
