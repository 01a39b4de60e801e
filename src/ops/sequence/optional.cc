// Optional, OptionalHasElement, OptionalGetElement: values that may be absent.
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct Optional {
  DType dtype = DType::kF32;
  bool sequence = false;
  template <class V> void Visit(V& v) {
    v("dtype", dtype, "element type if no input is given");
    v("sequence", sequence, "if no input is given, the type is a sequence of tensors");
  }
};
struct OptionalHasElement : NoAttrs {};
struct OptionalGetElement : NoAttrs {};

Status InferOptional(const Optional& op, InferContext& c) {
  const Type tensor = Type::TensorOf(op.dtype);
  const Type absent = op.sequence ? Type::SequenceOf(tensor) : tensor;
  c.Out("y", Type::OptionalOf(c.Has("x") ? c.In("x") : absent));
  return {};
}

Status RunOptional(const Optional&, EvalContext& c) {
  c.SetOut("y", c.Has("x") ? c.InDatum("x") : Datum::None());
  return {};
}

Status InferHas(const OptionalHasElement&, InferContext& c) {
  c.Out("y", DType::kBool, Shape(std::vector<Dim>{}));
  return {};
}

Status RunHas(const OptionalHasElement&, EvalContext& c) {
  c.OutLongs("y", {}, {c.Has("x") && !c.InDatum("x").is_none()});
  return {};
}

Status InferGet(const OptionalGetElement&, InferContext& c) {
  const Type& x = c.In("x");
  c.Out("y", x.kind == Type::Kind::kOptional && x.element ? *x.element : x);
  return {};
}

Status RunGet(const OptionalGetElement&, EvalContext& c) {
  if (c.InDatum("x").is_none()) return InvalidArgument("the optional has no element");
  c.SetOut("y", c.InDatum("x"));
  return {};
}

}  // namespace

TERN_OP(Optional) {
  return OpDef::Of<Optional>("x as an optional; without x, an empty optional")
      .OptIn("x", 0)
      .Out("y", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferOptional)
      .Reference(RunOptional);
}

TERN_OP(OptionalHasElement) {
  return OpDef::Of<OptionalHasElement>("whether the optional has an element")
      .OptIn("x", 0)
      .Out("y", kBools)
      .Traits(kPure | kHostOnly)
      .Infer(InferHas)
      .Reference(RunHas);
}

TERN_OP(OptionalGetElement) {
  return OpDef::Of<OptionalGetElement>("the element of an optional")
      .In("x", 0)
      .Out("y", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferGet)
      .Reference(RunGet);
}

}  // namespace tern
