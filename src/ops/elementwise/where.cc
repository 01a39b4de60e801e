// Where: y = condition ? a : b, with broadcasting.
#include <algorithm>

#include "ir/eval_context.h"
#include "ops/elementwise/broadcast.h"

namespace tern {
namespace {

struct Where : NoAttrs {};

// Selects elements from the contents of a and b. If an element of the condition is unknown, the result is
// known only where a and b are equal.
std::optional<Content> Choose(const InferContext& c) {
  auto condition = c.ContentOf("condition");
  if (const Tensor* t = c.Constant("condition"); t && t->rank() <= 1) {
    const auto longs = ToLongs(*t);
    condition = Content(longs.begin(), longs.end());
  }
  const auto a = c.ContentOf("a"), b = c.ContentOf("b");
  if (!condition || !a || !b) return std::nullopt;
  const size_t n = std::max({condition->size(), a->size(), b->size()});
  const auto at = [n](const Content& v, size_t i) { return v.size() == n ? v[i] : v[0]; };
  for (const auto& v : {condition, a, b})
    if (v->size() != n && v->size() != 1) return std::nullopt;
  Content y;
  for (size_t i = 0; i < n; ++i) {
    const Dim choice = at(*condition, i), p = at(*a, i), q = at(*b, i);
    if (choice.known())
      y.push_back(choice.value() ? p : q);
    else
      y.push_back(p == q ? p : Dim());
  }
  return y;
}

Status Infer(const Where&, InferContext& c) {
  const DType a = c.TypeOf("a"), b = c.TypeOf("b");
  if (a != b && a != DType::kInvalid && b != DType::kInvalid)
    return InvalidModel("inputs differ in type: a ", c.In("a").ToString(), ", b ", c.In("b").ToString());
  TERN_ASSIGN(const Shape values, BroadcastShapes(c.ShapeOf("a"), c.ShapeOf("b")));
  TERN_ASSIGN(Shape shape, BroadcastShapes(c.ShapeOf("condition"), values));
  const bool small = shape.ranked && shape.rank() <= 1;
  c.Out("y", a != DType::kInvalid ? a : b, std::move(shape));
  if (small)
    if (auto content = Choose(c)) c.OutContent("y", std::move(*content));
  return {};
}

Status Reference(const Where&, EvalContext& c) {
  const Tensor &condition = c.In("condition"), &a = c.In("a"), &b = c.In("b");
  TERN_ASSIGN(const Dims values, BroadcastDims(a.dims(), b.dims()));
  TERN_ASSIGN(const Dims dims, BroadcastDims(condition.dims(), values));
  Tensor& y = c.Out("y", dims);
  BroadcastWalk at(condition.dims(), dims), at_a(a.dims(), dims), at_b(b.dims(), dims);
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t j = at_a.Next(), k = at_b.Next();
    if (condition.data<uint8_t>()[at.Next()])
      CopyElement(a, j, y, i);
    else
      CopyElement(b, k, y, i);
  }
  return {};
}

}  // namespace

TERN_OP(Where) {
  return OpDef::Of<Where>("y = condition ? a : b, with broadcasting")
      .Setting("condition", kBools)
      .In("a", kAnyType)
      .In("b", kAnyType)
      .Out("y", kAnyType)
      .Traits(kPure | kElementwise | kMovesData)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
