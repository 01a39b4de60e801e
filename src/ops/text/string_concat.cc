// StringConcat: concatenates texts, with broadcasting.
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/elementwise/broadcast.h"

namespace tern {
namespace {

struct StringConcat : NoAttrs {};

Status Infer(const StringConcat&, InferContext& c) {
  TERN_ASSIGN(Shape y, BroadcastShapes(c.ShapeOf("a"), c.ShapeOf("b")));
  c.Out("y", DType::kString, std::move(y));
  return {};
}

Status Reference(const StringConcat&, EvalContext& c) {
  const Tensor &a = c.In("a"), &b = c.In("b");
  TERN_ASSIGN(const Dims dims, BroadcastDims(a.dims(), b.dims()));
  Tensor& y = c.Out("y", dims);
  BroadcastWalk from_a(a.dims(), dims), from_b(b.dims(), dims);
  for (int64_t i = 0; i < y.size(); ++i)
    y.data<std::string>()[i] = a.data<std::string>()[from_a.Next()] + b.data<std::string>()[from_b.Next()];
  return {};
}

}  // namespace

TERN_OP(StringConcat) {
  return OpDef::Of<StringConcat>("each text of a followed by the text of b")
      .In("a", kStrings)
      .In("b", kStrings)
      .Out("y", kStrings)
      .Traits(kPure | kHostOnly | kElementwise)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
