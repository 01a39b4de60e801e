// Eltwise: the sum, product, maximum or minimum of any number of tensors, with broadcasting.
#include <cmath>

#include "base/below.h"
#include "ir/eval_context.h"
#include "ir/graph.h"
#include "ir/op_cost.h"
#include "ops/elementwise/binary_kind.h"
#include "ops/elementwise/broadcast.h"

namespace tern {
namespace {

enum class EltwiseKind { kSum, kProd, kMax, kMin };

struct Eltwise {
  EltwiseKind kind = EltwiseKind::kSum;
  std::vector<float> coefficients;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"sum", "prod", "max", "min"}, "the function; NaN propagates");
    v("coefficients", coefficients, "for a sum of floats, the factor of each input; empty means 1 for all");
  }
};

Status CheckCoefficients(const Eltwise& op, const InferContext& c) {
  if (op.coefficients.empty()) return {};
  if (op.kind != EltwiseKind::kSum) return InvalidModel("only a sum has coefficients");
  if (static_cast<int>(op.coefficients.size()) != c.InputCount())
    return InvalidModel(op.coefficients.size(), " coefficients for ", c.InputCount(), " inputs");
  if (IsInt(c.In(0).dtype)) return InvalidModel("integers have no coefficients, got ", c.In(0).ToString());
  return {};
}

BinaryKind StepOf(EltwiseKind kind) {
  static constexpr BinaryKind kSteps[] = {BinaryKind::kAdd, BinaryKind::kMul, BinaryKind::kMax,
                                          BinaryKind::kMin};
  return kSteps[static_cast<int>(kind)];
}

// Combines the contents of all inputs as expressions. Returns nullopt if an input has no content.
std::optional<Content> ContentOf(EltwiseKind kind, const InferContext& c) {
  std::optional<Content> all = c.ContentOf(0);
  for (int i = 1; all && i < c.InputCount(); ++i) {
    const auto next = c.ContentOf(i);
    all = next ? BinaryContent(StepOf(kind), *all, *next, true) : std::nullopt;
  }
  return all;
}

Status Infer(const Eltwise& op, InferContext& c) {
  if (c.InputCount() == 0) return InvalidModel("needs at least one input");
  TERN_TRY(CheckCoefficients(op, c));
  DType type = c.In(0).dtype;
  Shape shape = c.In(0).shape;
  for (int i = 0; i < c.InputCount(); ++i) {
    if (!c.Has(i)) return InvalidModel("input ", i, " is missing");
    const Type& x = c.In(i);
    if (type == DType::kInvalid) type = x.dtype;
    if (x.dtype != type && x.dtype != DType::kInvalid)
      return InvalidModel("inputs differ in type: input ", i, " is ", x.ToString(),
                          ", but the inputs before it are ", DTypeName(type));
    if (i > 0) {
      TERN_ASSIGN(shape, BroadcastShapes(shape, x.shape));
    }
  }
  const bool small = shape.ranked && shape.rank() <= 1;
  c.Out("y", type, std::move(shape));
  if (!small || !IsInt(type)) return {};
  if (auto content = ContentOf(op.kind, c)) c.OutContent("y", std::move(*content));
  return {};
}

double Join(EltwiseKind kind, double a, double b) {
  switch (kind) {
    case EltwiseKind::kSum:
      return a + b;
    case EltwiseKind::kProd:
      return a * b;
    case EltwiseKind::kMax:
      return std::isnan(a) || Below(b, a) ? a : b;
    default:
      return std::isnan(a) || Below(a, b) ? a : b;
  }
}

// Results are modulo 2^64. A u64 is passed as the int64_t with the same bits.
int64_t JoinLongs(EltwiseKind kind, int64_t a, int64_t b, bool is_signed) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool less = is_signed ? a < b : ua < ub;
  switch (kind) {
    case EltwiseKind::kSum:
      return static_cast<int64_t>(ua + ub);
    case EltwiseKind::kProd:
      return static_cast<int64_t>(ua * ub);
    case EltwiseKind::kMax:
      return less ? b : a;
    default:
      return less ? a : b;
  }
}

// Floats are combined in f64 and rounded once.
Status Reference(const Eltwise& op, EvalContext& c) {
  Dims dims = c.In(0).dims();
  for (int i = 1; i < c.InputCount(); ++i) {
    TERN_ASSIGN(dims, BroadcastDims(dims, c.In(i).dims()));
  }
  Tensor& y = c.Out("y", dims);
  const bool integers = IsInt(y.dtype()), is_signed = IsSignedInt(y.dtype());
  const auto size = static_cast<size_t>(y.size());
  std::vector<double> reals(integers ? 0 : size);
  std::vector<int64_t> longs(integers ? size : 0);
  for (int i = 0; i < c.InputCount(); ++i) {
    const Tensor& x = c.In(i);
    const double factor = op.coefficients.empty() ? 1.0 : op.coefficients[static_cast<size_t>(i)];
    BroadcastWalk at(x.dims(), dims);
    for (size_t k = 0; k < size; ++k) {
      const int64_t from = at.Next();
      if (integers) {
        const int64_t v = LoadLong(x, from);
        longs[k] = i == 0 ? v : JoinLongs(op.kind, longs[k], v, is_signed);
      } else {
        const double v = factor * LoadDouble(x, from);
        reals[k] = i == 0 ? v : Join(op.kind, reals[k], v);
      }
    }
  }
  for (size_t k = 0; k < size; ++k) {
    if (integers)
      StoreLong(y, static_cast<int64_t>(k), longs[k]);
    else
      StoreDouble(y, static_cast<int64_t>(k), reals[k]);
  }
  return {};
}

std::optional<double> Flops(const Node& n) {
  const size_t factors = n.attrs.As<Eltwise>().coefficients.size();
  return Times(ElementsOf(n.output(0)), static_cast<double>(n.inputs().size() + factors) - 1);
}

}  // namespace

TERN_OP(Eltwise) {
  return OpDef::Of<Eltwise>("y = the sum, product, maximum or minimum of all inputs, with broadcasting")
      .VarIn("inputs", kNumbers)
      .Out("y", kNumbers)
      .Traits(kPure | kElementwise | kInPlace)
      .Flops(Flops)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
