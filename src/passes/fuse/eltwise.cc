// Fuses sums with coefficients, and sums, products, maxima and minima of more than two tensors, into Eltwise.
#include <cmath>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

struct Terms {
  std::vector<Value*> values;
  std::vector<double> factors;
  bool scaled() const {
    for (double f : factors)
      if (f != 1) return true;
    return false;
  }
};

constexpr size_t kMaxTerms = 16;

// v is a term of the sum y. Adds to `out` the terms from which a node computes v, multiplied by `factor`. v
// must have no other reader, and all terms must have the shape of y. Returns false and adds nothing if v is
// not such a sum or product.
bool ExpandTerm(const Value* v, const Value* y, double factor, Terms& out) {
  const Node* node = v->producer;
  if (!node || !OnlyUse(v) || node->graph != y->producer->graph) return false;
  if (IsOp(*node, "Eltwise", "sum")) {
    const auto factors = node->attrs.Floats("coefficients");
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      out.values.push_back(node->inputs()[i]);
      out.factors.push_back(factor * (factors.empty() ? 1.0 : static_cast<double>(factors[i])));
    }
    return true;
  }
  if (IsOp(*node, "Binary", "mul")) {
    for (int at : {0, 1}) {
      const auto number = ScalarOf(node->input(at));
      if (!number || !std::isfinite(*number) || !SameShape(node->input(1 - at), y)) continue;
      out.values.push_back(node->input(1 - at));
      out.factors.push_back(factor * *number);
      return true;
    }
    return false;
  }
  const bool minus = IsOp(*node, "Binary", "sub");
  if (!minus && !IsOp(*node, "Binary", "add")) return false;
  if (!SameShape(node->input(0), y) || !SameShape(node->input(1), y)) return false;
  for (int i : {0, 1}) {
    out.values.push_back(node->input(i));
    out.factors.push_back(i && minus ? -factor : factor);
  }
  return true;
}

bool FuseSum(Rewrite& r) {
  Node& root = r.root();
  const Value* y = root.output(0);
  if (!IsFloatValue(y) || y->type.dtype == DType::kF64) return r.Skip("the type is not f32, f16 or bf16");
  if (y->type.shape.rank() < 1) return r.Skip("the sum is a single number");
  Terms terms;
  for (int i : {0, 1}) {
    Value* v = root.input(i);
    if (v->is_constant()) return r.Skip("an operand is a constant");
    if (!SameShape(v, y)) return r.Skip("'", v->name, "' does not provably have the shape of the sum");
    const double factor = i && IsOp(root, "Binary", "sub") ? -1 : 1;
    if (ExpandTerm(v, y, factor, terms)) continue;
    terms.values.push_back(v);
    terms.factors.push_back(factor);
  }
  const bool expanded =
      terms.values.size() > 2 || terms.values[0] != root.input(0) || terms.values[1] != root.input(1);
  if (!expanded) return r.Skip("there are only two terms, and they have no coefficients");
  if (terms.values.size() > kMaxTerms) return r.Skip("there are more than ", kMaxTerms, " terms");
  Attrs attrs = FindOp("Eltwise")->defaults;
  SetAttr(attrs, "kind", "sum");
  if (terms.scaled()) SetAttr(attrs, "coefficients", terms.factors);
  return r.Replace(r.Op(*FindOp("Eltwise"), attrs, terms.values));
}

// Fuses kind(kind(a, b), c).
bool FuseChain(Rewrite& r, const char* binary, const char* kind) {
  Node& root = r.root();
  const Value* y = root.output(0);
  if (!IsFloatValue(y)) return r.Skip("the type is not a float");
  std::vector<Value*> values;
  bool expanded = false;
  for (int i : {0, 1}) {
    Value* v = root.input(i);
    if (v->is_constant()) return r.Skip("an operand is a constant");
    if (!SameShape(v, y)) return r.Skip("'", v->name, "' does not provably have the shape of the result");
    const Node* node = OnlyUse(v) && v->graph == &r.graph() ? v->producer : nullptr;
    const bool chain = node && (IsOp(*node, "Eltwise", kind) || IsOp(*node, "Binary", binary));
    bool same = chain;
    for (size_t k = 0; chain && k < node->inputs().size(); ++k)
      same &= SameShape(node->inputs()[k], y) && !node->inputs()[k]->is_constant();
    if (same) values.insert(values.end(), node->inputs().begin(), node->inputs().end());
    if (!same) values.push_back(v);
    expanded |= same;
  }
  if (!expanded) return r.Skip("no operand is made by the same function and read only here");
  if (values.size() > kMaxTerms) return r.Skip("there are more than ", kMaxTerms, " operands");
  return r.Replace(r.Op("Eltwise", values, {{"kind", kind}}));
}

}  // namespace

TERN_RULE(FuseSumIntoEltwise) {
  return Rule{.summary = "a + b + c, or 2 a + 3 b, is one Eltwise with coefficients",
              .level = Level::kExtended,
              .roots = {"Binary:add", "Binary:sub"},
              .apply = FuseSum,
              .example = R"(graph @g(%a: f32[N], %b: f32[N], %c: f32[N]) -> (%y) { %y = %a + %b + %c })"};
}
TERN_RULE(FuseProductIntoEltwise) {
  return Rule{.summary = "a * b * c of tensors of one shape is one Eltwise",
              .level = Level::kExtended,
              .roots = {"Binary:mul"},
              .apply = [](Rewrite& r) { return FuseChain(r, "mul", "prod"); },
              .example = R"(graph @g(%a: f32[N], %b: f32[N], %c: f32[N]) -> (%y) { %y = %a * %b * %c })"};
}
TERN_RULE(FuseMaxIntoEltwise) {
  return Rule{
      .summary = "the maximum of three or more tensors of one shape is one Eltwise",
      .level = Level::kExtended,
      .roots = {"Binary:max"},
      .apply = [](Rewrite& r) { return FuseChain(r, "max", "max"); },
      .example = R"(graph @g(%a: f32[N], %b: f32[N], %c: f32[N]) -> (%y) { %y = Max(%a, Max(%b, %c)) })"};
}
TERN_RULE(FuseMinIntoEltwise) {
  return Rule{
      .summary = "the minimum of three or more tensors of one shape is one Eltwise",
      .level = Level::kExtended,
      .roots = {"Binary:min"},
      .apply = [](Rewrite& r) { return FuseChain(r, "min", "min"); },
      .example = R"(graph @g(%a: f32[N], %b: f32[N], %c: f32[N]) -> (%y) { %y = Min(%a, Min(%b, %c)) })"};
}

}  // namespace tern
