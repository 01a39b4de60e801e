// Removes Reshapes around MatMul and Softmax that flatten the batch dims and restore them. Also removes a
// Sub before Softmax that does not change the result.
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// Describes a value [n, a, b] that is a Reshape of x [..., a, b]. `batch` is the leading dims of x.
struct Flat {
  Value* x = nullptr;
  std::vector<Dim> batch;
};

std::optional<Flat> FlatOf(Value* v) {
  const Node* reshape = MadeBy(v, "Reshape");
  if (!reshape || v->type.shape.rank() != 3) return std::nullopt;
  const Shape &x = reshape->input(0)->type.shape, &y = v->type.shape;
  if (x.rank() < 4 || x[-1] != y[-1] || x[-2] != y[-2]) return std::nullopt;
  Flat flat{reshape->input(0), {x.dims.begin(), x.dims.end() - 2}};
  Dim count(1);
  for (const Dim& d : flat.batch) count = count * d;
  return count == y[0] ? std::optional(std::move(flat)) : std::nullopt;
}

bool SameDims(const std::vector<Dim>& a, const Dim* b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

bool HasBatch(const std::optional<Flat>& flat, const std::vector<Dim>& batch) {
  return flat && flat->batch.size() == batch.size() && SameDims(batch, flat->batch.data());
}

// Returns the operand as [batch..., a, b], or null if it is not flattened. Its batch may have been split in
// another way before the Reshape.
Value* WithBatch(Rewrite& r, const std::optional<Flat>& flat, const std::vector<Dim>& batch) {
  if (!flat || HasBatch(flat, batch)) return flat ? flat->x : nullptr;
  Shape wanted(batch);
  const Shape& x = flat->x->type.shape;
  wanted.dims.insert(wanted.dims.end(), {x[-2], x[-1]});
  return ViewAs(r, flat->x, wanted);
}

bool RecomposeBatchMatMulAt(Rewrite& r) {
  Node* product = MadeBy(r.root().input(0), "MatMul");
  if (!product || !OnlyUse(r.root().input(0)))
    return r.Skip("the input is not a product that is read nowhere else");
  if (product->input(2) || product->input(3)) return r.Skip("the product has a bias or a residual");
  const auto a = FlatOf(product->input(0)), b = FlatOf(product->input(1));
  if (!a || !b) return r.Skip("the operands are not flattened batches");
  if (product->input(0)->type.shape[0] != product->input(1)->type.shape[0])
    return r.Skip("the flattened batch of one operand is broadcast");
  const Shape &y = r.root().output(0)->type.shape, &flat = product->output(0)->type.shape;
  if (y.rank() < 4 || y[-1] != flat[-1] || y[-2] != flat[-2]) return r.Skip("the batch is not restored");
  const std::vector<Dim> batch(y.dims.begin(), y.dims.end() - 2);
  if (!HasBatch(a, batch) && !HasBatch(b, batch))
    return r.Skip("no operand has the batch dims of the result before the flattening");
  Value *left = WithBatch(r, a, batch), *right = WithBatch(r, b, batch);
  if (!left || !right) return r.Skip("the batch dims of an operand are not known");
  return r.Replace(r.Op(*product->op, product->attrs, {left, right}));
}

bool MoveReshapeBehindSoftmaxAt(Rewrite& r) {
  Node& softmax = r.root();
  const auto flat = FlatOf(softmax.input(0));
  if (!flat || !OnlyUse(softmax.input(0)))
    return r.Skip("the input is not a flattened batch that is read nowhere else");
  const int64_t axis = softmax.attrs.Int("axis");
  if (axis != -1 && axis != 2) return r.Skip("the Softmax is not over the last axis");
  Attrs attrs = WithAttrs(softmax.attrs, {{"axis", int64_t{-1}}});
  const Node* reshape = softmax.input(0)->producer;
  Value* y = r.Op(*softmax.op, std::move(attrs), {flat->x});
  return r.Replace(r.Op(*reshape->op, reshape->attrs, {y, reshape->input(1)}));
}

}  // namespace

TERN_RULE(RecomposeBatchMatMul) {
  return Rule{
      .summary =
          "Reshapes that flatten the batch before a MatMul and restore it after the MatMul are removed",
      .level = Level::kExtended,
      .roots = {"Reshape"},
      .apply = RecomposeBatchMatMulAt,
      .example = R"(graph @product(%a: f32[2,4,3,8], %b: f32[2,4,8,5]) -> (%y) {
  #a: i64[3] = (8, 3, 8)  #b: i64[3] = (8, 8, 5)  #y: i64[4] = (2, 4, 3, 5)
  %y = Reshape(MatMul(Reshape(%a, #a), Reshape(%b, #b)), #y)
})"};
}

TERN_RULE(MoveReshapeBehindSoftmax) {
  return Rule{.summary =
                  "a Reshape that flattens the batch moves after a Softmax over the last axis, where "
                  "another Reshape may cancel it",
              .level = Level::kExtended,
              .roots = {"Softmax"},
              .apply = MoveReshapeBehindSoftmaxAt,
              .example = R"(graph @softmax(%x: f32[2,4,3,5]) -> (%y) {
  #flat: i64[3] = (8, 3, 5)
  %y = Softmax(Reshape(%x, #flat))
})"};
}

namespace {

// True if `m`, which is subtracted before the Softmax, has one element along the softmax axis.
bool SharedShift(const Match& m) {
  const auto axis = AxisOf(m.Int("axis"), m.At("x"));
  const Shape &x = m.ShapeOf("x"), &shift = m.ShapeOf("m");
  if (!axis || !shift.ranked || shift.rank() != x.rank()) return m.Skip("the ranks are not provably equal");
  if (!shift[*axis].Is(1)) return m.Skip("the shift differs along the axis");
  return BroadcastsInto(m.At("m"), m.At("x")) || m.Skip("the shift does not broadcast into the value");
}

}  // namespace

TERN_RULE(RemoveShiftBeforeSoftmax) {
  return Rule{
      .summary =
          "subtracting a value that is the same along the axis of a Softmax, such as the maximum, is removed, because it does not change the result",
      .level = Level::kExtended,
      .match = {"%y = Softmax(%x - %m) {@all, axis=@axis}"},
      .emit = "%y = Softmax(%x) {@all}",
      .when = SharedShift};
}

TERN_RULE(RemoveScaledShiftBeforeSoftmax) {
  return Rule{
      .summary =
          "subtracting a value that is the same along the axis of a scaled Softmax, such as the maximum, is removed, because it does not change the result",
      .level = Level::kExtended,
      .match = {"%y = Softmax((%x - %m) * #c) {@all, axis=@axis}"},
      .emit = "%y = Softmax(%x * #c) {@all}",
      .when = [](const Match& m) {
        return ScalarOf(m.At("c")) ? SharedShift(m) : m.Skip("the factor is not a number");
      }};
}

}  // namespace tern
