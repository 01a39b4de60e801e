// Complex tensors: float tensors whose last dim has the real and the imaginary part.
#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

struct Parts {
  Value *real, *imaginary;
};

Parts PartsOf(Emit& e, Value* x) {
  return {e.Slice(x, -1, 0, 1), e.Slice(x, -1, 1, 2)};
}

Value* Pair(Emit& e, const Parts& p) { return e.Concat({p.real, p.imaginary}, -1); }

void OutComplex(AtenNode& n, Value* v) {
  n.Out(v);
  n.results().back().tensor->complex = true;
}

// A real operand becomes complex with an imaginary part of 0.
Parts OperandParts(AtenNode& n, Emit& e, std::string_view name, DType t) {
  if (n.Var(name) && n.Var(name)->complex) return PartsOf(e, e.Cast(n.In(name), t));
  Value* x = As(n, name, t);
  x = e.Unsqueeze(x, {-1});
  return {x, nullptr};
}

Status ViewAsReal(AtenNode& n) {
  n.Out(n.In("self"));
  return {};
}

Status ViewAsComplex(AtenNode& n) {
  OutComplex(n, n.In("self"));
  return {};
}

Status Part(AtenNode& n, int64_t index) {
  if (!n.Var("self") || !n.Var("self")->complex) {
    if (index != 0) return n.NotYet("the imaginary part of a real tensor");
    n.Out(n.In("self"));
    return {};
  }
  Emit e(n.b);
  n.Out(n.b.Op("Gather", {n.In("self"), e.Long(index)}, {{"axis", int64_t{-1}}}));
  return {};
}

Status Complex(AtenNode& n) {
  Emit e(n.b);
  OutComplex(n, Pair(e, {e.Unsqueeze(n.In("real"), {-1}), e.Unsqueeze(n.In("imag"), {-1})}));
  return {};
}

Status Polar(AtenNode& n) {
  Emit e(n.b);
  Value *r = n.In("abs"), *angle = n.In("angle");
  OutComplex(n, Pair(e, {e.Unsqueeze(e.Mul(r, e.Unary("cos", angle)), {-1}),
                         e.Unsqueeze(e.Mul(r, e.Unary("sin", angle)), {-1})}));
  return {};
}

Status Conjugate(AtenNode& n) {
  if (!n.Var("self") || !n.Var("self")->complex) {
    n.Out(n.In("self"));
    return {};
  }
  Emit e(n.b);
  const Parts p = PartsOf(e, n.In("self"));
  OutComplex(n, Pair(e, {p.real, e.Unary("neg", p.imaginary)}));
  return {};
}

}  // namespace

Status MultiplyComplex(AtenNode& n) {
  Emit e(n.b);
  const DType t = n.Var("self") && n.Var("self")->complex ? n.TypeOf("self") : n.TypeOf("other");
  const Parts a = OperandParts(n, e, "self", t), c = OperandParts(n, e, "other", t);
  Value* real = e.Mul(a.real, c.real);
  if (a.imaginary && c.imaginary) real = e.Sub(real, e.Mul(a.imaginary, c.imaginary));
  Value* left = c.imaginary ? e.Mul(a.real, c.imaginary) : nullptr;
  Value* right = a.imaginary ? e.Mul(a.imaginary, c.real) : nullptr;
  OutComplex(n, Pair(e, {real, left && right ? e.Add(left, right) : left ? left : right}));
  return {};
}

TERN_CONVERTERS(complex) {
  table.Add("aten::view_as_real", ViewAsReal);
  table.Add("aten::view_as_complex", ViewAsComplex);
  table.Add("aten::real", [](AtenNode& n) { return Part(n, 0); });
  table.Add("aten::imag", [](AtenNode& n) { return Part(n, 1); });
  table.Add("aten::complex", Complex);
  table.Add("aten::polar", Polar);
  table.Add("aten::conj", Conjugate);
  table.Add("aten::_conj", Conjugate);
  table.Add("aten::conj_physical", Conjugate);
}

}  // namespace tern::torch
