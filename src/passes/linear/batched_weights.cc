// Rewrites a MatMul whose weights repeat one matrix for every item of the batch. The MatMul then reads one
// copy.
#include <cstring>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

Shape BatchOf(const Shape& s) { return Shape(std::vector<Dim>(s.dims.begin(), s.dims.end() - 2)); }

// If all matrices of a constant [..., k, n] are equal, returns the first one.
std::optional<Tensor> OneMatrix(const Tensor& w) {
  const Dims& dims = w.dims();
  if (dims.size() < 3 || w.size() == 0 || !w.raw()) return std::nullopt;
  const Dims matrix(dims.end() - 2, dims.end());
  const size_t bytes = BytesOf(w.dtype(), static_cast<size_t>(matrix[0] * matrix[1]));
  if (bytes * static_cast<size_t>(w.size() / (matrix[0] * matrix[1])) != w.bytes()) return std::nullopt;
  const auto* data = static_cast<const std::byte*>(w.raw());
  for (size_t at = bytes; at < w.bytes(); at += bytes)
    if (std::memcmp(data, data + at, bytes) != 0) return std::nullopt;
  Tensor first(w.dtype(), matrix);
  std::memcpy(first.data<std::byte>(), data, bytes);
  return first;
}

// Returns an operand with fewer batch dims than `v` and the same matrices, or null.
Value* WithoutBatch(Rewrite& r, Value* v) {
  if (v->is_constant()) {
    const auto matrix = OneMatrix(v->constant);
    return matrix ? r.Const(*matrix) : nullptr;
  }
  const Node* expand = MadeBy(v, "Expand");
  if (!expand) return nullptr;
  const Shape &x = expand->input(0)->type.shape, &y = v->type.shape;
  const bool same = x.rank() >= 2 && x[-1] == y[-1] && x[-2] == y[-2];
  return same ? expand->input(0) : nullptr;
}

bool ShareWeights(Rewrite& r) {
  const Node& node = r.root();
  const Shape &a = node.input(0)->type.shape, &b = node.input(1)->type.shape;
  if (a.rank() < 2 || b.rank() < 3) return r.Skip("the right operand has no batch dims");
  Value* w = WithoutBatch(r, node.input(1));
  if (!w) return r.Skip("the right operand is not one matrix that is repeated");
  const auto batch = BroadcastShapes(BatchOf(a), BatchOf(w->type.shape));
  const Shape& y = node.output(0)->type.shape;
  if (!batch.ok() || y.rank() < 2 || !(*batch == BatchOf(y)))
    return r.Skip("the left operand does not have the batch dims of the result");
  std::vector<Value*> inputs = node.inputs();
  inputs[1] = w;
  return r.Replace(r.Op(*node.op, node.attrs, inputs));
}

}  // namespace

TERN_RULE(ShareWeightsOfBatch) {
  return Rule{
      .summary = "a MatMul that multiplies every item of the batch by the same matrix reads one copy of it",
      .roots = {"MatMul"},
      .apply = ShareWeights,
      .example = R"(graph @g(%x: f32[N,5,4], %w: f32[4,3]) -> (%y) {
  #d: i64[2] = (4, 3)
  %y = MatMul(%x, Expand(%w, Concat(Shape(%x) {end=1}, #d) {axis=0}))
})"};
}

}  // namespace tern
