// Converts operators on complex tensors, which are float tensors whose last dim contains the real and the
// imaginary part.
#include "import/torch/aten/complex.h"

#include <set>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

struct Parts {
  Value *real, *imaginary;
};

Parts PartsOf(Emit& e, Value* x) { return {e.Slice(x, -1, 0, 1), e.Slice(x, -1, 1, 2)}; }

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

// Operators whose converters handle complex tensors themselves.
bool KnowsComplex(const std::string& op) {
  static const std::set<std::string> kOps = {"aten::view_as_real",  "aten::view_as_complex",
                                             "aten::real",          "aten::imag",
                                             "aten::conj",          "aten::_conj",
                                             "aten::conj_physical", "aten::mul",
                                             "aten::multiply",      "aten::clone",
                                             "aten::contiguous",    "aten::detach",
                                             "aten::alias",         "aten::to",
                                             "aten::_to_copy",      "aten::resolve_conj",
                                             "aten::abs",           "aten::_fft_c2r",
                                             "aten::_fft_c2c",      "aten::lift_fresh_copy",
                                             "aten::fft_fft",       "aten::fft_ifft",
                                             "aten::fft_fftn",      "aten::fft_ifftn",
                                             "aten::fft_fft2",      "aten::fft_ifft2",
                                             "aten::fft_irfft",     "aten::_assert_tensor_metadata"};
  return kOps.count(op) > 0;
}

// Operators that only move elements. PrepareComplex changes their dims and sizes so that they move pairs.
bool MovesElements(const std::string& op) {
  static const std::set<std::string> kOps = {
      "aten::unsqueeze", "aten::squeeze", "aten::view", "aten::reshape", "aten::slice",
      "aten::select",    "aten::expand",  "aten::cat",  "aten::stack",   "aten::_unsafe_view"};
  return kOps.count(op) > 0;
}

// Converts a dim of the complex tensor to a dim of the tensor of parts. A dim that is counted from the end
// shifts by one. INT64_MIN is left unchanged, because it is out of range anyway.
int64_t BeforeParts(int64_t dim) { return dim < 0 && dim > INT64_MIN ? dim - 1 : dim; }

Value* Magnitude(Emit& e, Value* x) { return e.Reduce("l2", x, {-1}, false); }

}  // namespace

Status AbsComplex(AtenNode& n) {
  Emit e(n.b);
  n.Out(Magnitude(e, n.In("self")));
  return {};
}

Result<bool> PrepareComplex(TorchContext& context, BoundCall& call) {
  bool complex = false;
  for (const Arg& a : call.args) {
    complex |= a.is_tensor() && a.tensor->complex;
    for (const Arg& item : a.items) complex |= item.is_tensor() && item.tensor->complex;
  }
  if (!complex || KnowsComplex(call.schema->name)) return false;
  if (!MovesElements(call.schema->name))
    return Unsupported("node '", call.place.name, "' (", call.place.origin, "): a complex tensor");
  Builder b(context.graph());
  const auto as_real = [&](Arg& a) -> Status {
    if (!a.is_tensor()) return {};
    if (!a.tensor->complex) return Unsupported("real and complex tensors together");
    TERN_ASSIGN(Value * v, context.Read(*a.tensor, b));
    a = Arg::Of(TorchContext::NewTensor(v));
    return {};
  };
  for (size_t i = 0; i < call.args.size(); ++i) {
    Arg& a = call.args[i];
    TERN_TRY(as_real(a));
    for (Arg& item : a.items) TERN_TRY(as_real(item));
    const std::string& name = call.schema->parameters[i].name;
    if (name == "dim" && a.known()) a.integer = BeforeParts(a.integer);
    if (name == "dim")
      for (Arg& item : a.items) item.integer = BeforeParts(item.integer);
    if (name == "size" || name == "shape") a.items.push_back(Arg::Int(2));
  }
  return true;
}

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
