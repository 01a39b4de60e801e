#include "ops/support/epilogue.h"

#include <algorithm>

#include "base/below.h"
#include "ir/graph.h"
#include "ir/op_cost.h"
#include "ops/elementwise/activation_kind.h"
#include "ops/elementwise/unary_kind.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

constexpr int kOwnCount = static_cast<int>(Epilogue::kGeluTanh) + 1,
              kUnaryCount = static_cast<int>(UnaryKind::kMish) + 1;

double Clipped(double low, double high, double x) {
  const double v = Below(x, low) ? low : x;
  return Below(high, v) ? high : v;
}

}  // namespace

const std::vector<const char*>& EpilogueNames() {
  static const auto* names = [] {
    auto* list = new std::vector<const char*>{"none", "clip", "gelu", "gelu_tanh"};
    list->insert(list->end(), UnaryNames().begin(), UnaryNames().begin() + kUnaryCount);
    list->insert(list->end(), ActivationNames().begin(), ActivationNames().end());
    return list;
  }();
  return *names;
}

double EpilogueValue(Epilogue activation, double alpha, double beta, double x) {
  switch (activation) {
    case Epilogue::kNone:
      return x;
    case Epilogue::kClip:
      return Clipped(alpha, beta, x);
    case Epilogue::kGelu:
    case Epilogue::kGeluTanh:
      return GeluValue(activation == Epilogue::kGeluTanh, x);
  }
  const int other = static_cast<int>(activation) - kOwnCount;
  if (other < kUnaryCount) return UnaryValue(static_cast<UnaryKind>(other), x);
  return ActivationValue(static_cast<ActivationKind>(other - kUnaryCount), alpha, beta, x);
}

Status InferEpilogue(const EpilogueAttrs& attrs, InferContext& c, const Shape& y, DType& type) {
  if (c.Has("residual")) {
    TERN_TRY(CheckBroadcastsTo("residual", c.ShapeOf("residual"), y));
    TERN_TRY(CheckTermType(c, "residual", type));
  }
  if (attrs.activation != Epilogue::kNone && type != DType::kInvalid && !IsFloat(type))
    return InvalidModel("activation \"", EpilogueNames()[static_cast<size_t>(attrs.activation)],
                        "\" needs a float result, got ", DTypeName(type));
  return {};
}

void ApplyEpilogue(const EpilogueAttrs& attrs, EvalContext& c, const Dims& dims, std::vector<double>& sums) {
  if (c.Has("residual")) {
    const auto residual = BroadcastTo(c.Doubles("residual"), c.In("residual").dims(), dims);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += residual[i];
  }
  for (double& v : sums) v = attrs(v);
}

void ApplyEpilogue(const EpilogueAttrs&, EvalContext& c, const Dims& dims, std::vector<uint64_t>& sums) {
  if (!c.Has("residual")) return;
  const auto residual = BroadcastTo(c.Longs("residual"), c.In("residual").dims(), dims);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<uint64_t>(residual[i]);
}

std::optional<double> EpilogueFlops(const Node& node) {
  const std::string kind = node.attrs.Text("activation");
  const auto& names = ActivationNames();
  const bool has_parameters = kind == "clip" || std::any_of(names.begin(), names.end(),
                                                            [&](const char* name) { return kind == name; });
  double flops = (node.input(2) ? 1 : 0) + (node.input(3) ? 1 : 0);
  if (kind.starts_with("gelu"))
    flops += kGeluFlops;
  else if (kind != "none")
    flops += has_parameters ? kActivationFlops : 1;
  return Times(ElementsOf(node.output(0)), flops);
}

}  // namespace tern
