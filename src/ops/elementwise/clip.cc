// Clip: limits x to the range from min to max.
#include "base/below.h"
#include "ir/axis_map.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"

namespace tern {
namespace {

struct Clip : NoAttrs {};

Status CheckBound(const InferContext& c, const char* port) {
  if (!c.Has(port)) return {};
  const Type& bound = c.In(port);
  if (bound.dtype != DType::kInvalid && c.TypeOf("x") != DType::kInvalid && bound.dtype != c.TypeOf("x"))
    return InvalidModel("input '", port, "' must be ", DTypeName(c.TypeOf("x")), ", as x is, got ",
                        bound.ToString());
  for (const Dim& d : bound.shape.dims)
    if (d.known() && d.value() != 1)
      return InvalidModel("input '", port, "' must hold one number, got ", bound.ToString());
  return {};
}

Status Infer(const Clip&, InferContext& c) {
  TERN_TRY(CheckBound(c, "min"));
  TERN_TRY(CheckBound(c, "max"));
  c.Out("y", c.In("x"));
  if (auto x = c.ContentOf("x")) {
    const auto low = c.ContentOf("min"), high = c.ContentOf("max");
    if ((c.Has("min") && (!low || low->size() != 1)) || (c.Has("max") && (!high || high->size() != 1)))
      return {};
    for (Dim& d : *x) {
      if (low) d = Max(d, (*low)[0]);
      if (high) d = Min(d, (*high)[0]);
    }
    c.OutContent("y", std::move(*x));
  }
  return {};
}

// Writes y. T is double, int64_t or uint64_t, so that it orders numbers as the element type does. NaN is
// unchanged. If min > max, the result is max.
template <class T, class Load, class Store> void Bound(EvalContext& c, Load load, Store store) {
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    T v = static_cast<T>(load(x, i));
    if (c.Has("min") && Below(v, static_cast<T>(load(c.In("min"), 0))))
      v = static_cast<T>(load(c.In("min"), 0));
    if (c.Has("max") && Below(static_cast<T>(load(c.In("max"), 0)), v))
      v = static_cast<T>(load(c.In("max"), 0));
    store(y, i, v);
  }
}

Status Reference(const Clip&, EvalContext& c) {
  const DType t = c.In("x").dtype();
  const auto store_long = [](Tensor& y, int64_t i, auto v) { StoreLong(y, i, static_cast<int64_t>(v)); };
  for (const char* port : {"min", "max"})
    if (c.Has(port) && c.In(port).size() != 1)
      return InvalidArgument("input '", port, "' must hold one number, got ", c.In(port).Describe());
  if (IsFloat(t))
    Bound<double>(c, LoadDouble, StoreDouble);
  else if (t == DType::kU64)
    Bound<uint64_t>(c, LoadLong, store_long);
  else
    Bound<int64_t>(c, LoadLong, store_long);
  return {};
}

}  // namespace

TERN_OP(Clip) {
  return OpDef::Of<Clip>("y = x limited to the range from min to max; an absent min or max is no limit")
      .In("x", kNumbers)
      .OptSetting("min", kNumbers)
      .OptSetting("max", kNumbers)
      .Out("y", kNumbers)
      .Traits(kPure | kElementwise | kInPlace)
      .Flops(PerOutput(kActivationFlops))
      .Axes(FirstOperandAxes)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
