// Identity: the input under another name. Accepts any kind of value.
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct Identity : NoAttrs {};

Status Infer(const Identity&, InferContext& c) {
  c.Out("y", c.In("x"));
  if (auto content = c.ContentOf("x")) c.OutContent("y", *content);
  return {};
}

Status Reference(const Identity&, EvalContext& c) {
  const Datum& x = c.InDatum("x");
  c.SetOut("y", x.is_tensor() ? Datum(x.tensor.Clone()) : x);
  return {};
}

}  // namespace

TERN_OP(Identity) {
  return OpDef::Of<Identity>("y = x")
      .In("x", 0)
      .Out("y", 0)
      .Traits(kPure | kView)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
