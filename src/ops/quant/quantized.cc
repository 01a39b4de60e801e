#include "ops/quant/quantized.h"

#include <array>

#include "ir/graph.h"
#include "ir/op_cost.h"
#include "ops/quant/evaluate_part.h"
#include "ops/quant/integer.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

constexpr std::array<QuantizedForm, 8> kForms = {{{"QConv", "Conv", 2, true},
                                                  {"QMatMul", "MatMul", 2, true},
                                                  {"QBinary", "Binary", 2, false},
                                                  {"QPool", "Pool", 1, false},
                                                  {"QGlobalPool", "GlobalPool", 1, false},
                                                  {"QUnary", "Unary", 1, false},
                                                  {"QActivation", "Activation", 1, false},
                                                  {"Requantize", "Identity", 1, false}}};

Attrs With(const OpDef& op, const char* name, const AttrValue& value) {
  Attrs attrs = op.defaults;
  TERN_CHECK(attrs.Set(name, value).ok());
  return attrs;
}

InferInput Typed(const Type& type) { return {true, type, {}, {}}; }

InferInput Given(const InferContext& c, int i) { return c.Has(i) ? Typed(c.In(i)) : InferInput{}; }

// Returns the type of one operand after Dequantize.
Result<Type> InferOperand(const QuantizedForm& form, const Attrs& attrs, const InferContext& c, int operand) {
  const int at = 3 * operand;
  const auto axis = ScaleAxis(form, attrs, operand);
  const Shape& scale = c.In(at + 1).shape;
  const bool vector = c.In(at).shape.rank() == 1 && axis.value_or(0) < 0;
  if ((!axis || vector) && scale.ranked && !IsSingle(scale))
    return InvalidModel("input '", c.op().InputPort(at + 1).name, "' must be one number, got ",
                        scale.ToString());
  return InferPart(*FindOp("Dequantize"), DequantizeAttrs(axis.value_or(0)),
                   {Given(c, at), Given(c, at + 1), Given(c, at + 2)});
}

// True if the result is f32.
template <class Context> bool IsReal(const QuantizedForm& form, const Context& c) {
  return form.has_epilogue && !c.Has(form.result());
}

Status CheckResult(const QuantizedForm& form, const InferContext& c, const Type& real, DType to) {
  const int at = form.result();
  if (IsReal(form, c))
    return c.Has(at + 1) ? InvalidModel("y_zero_point needs y_scale; without them the result is f32")
                         : Status();
  const Shape& scale = c.In(at).shape;
  if (scale.ranked && !IsSingle(scale))
    return InvalidModel("input 'y_scale' must be one number, got ", scale.ToString());
  const OpDef& quantize = *FindOp("Quantize");
  return InferPart(quantize, With(quantize, "to", to), {Typed(real), Given(c, at), Given(c, at + 1)})
      .status();
}

// Checks that the bias is a vector and, for MatMul, has one element per column of the result. For Conv, the
// Infer function of Conv checks the number of elements.
Status CheckBias(const QuantizedForm& form, const InferContext& c, const Shape& y) {
  const Shape& bias = c.In(form.bias()).shape;
  if (bias.ranked && bias.rank() != 1)
    return InvalidModel("input 'bias' must be a vector, got ", bias.ToString());
  if (std::string_view(form.real) != "MatMul" || !bias.ranked) return {};
  if (c.In(3).shape.rank() == 1) return InvalidModel("a bias needs a result with columns, but b is a vector");
  if (y.ranked && Differ(bias[0], y[-1]))
    return InvalidModel("bias has ", bias[0].value(), " elements, but the result has ", y[-1].value(),
                        " columns");
  return {};
}

// Checks the types of bias and residual.
Status CheckEpilogueTypes(const QuantizedForm& form, const InferContext& c) {
  const bool real = IsReal(form, c);
  const int at = form.residual();
  if (!real && c.Has(form.bias()) && c.In(form.bias()).dtype == DType::kF32)
    return InvalidModel("input 'bias' is f32, but must be i32 if the result is quantized");
  if (!c.Has(at)) return {};
  const DType type = c.In(at).dtype;
  if (real && type != DType::kF32 && type != DType::kInvalid)
    return InvalidModel("the result is f32, so the residual must be f32, got ", DTypeName(type));
  if (real && (c.Has(at + 1) || c.Has(at + 2)))
    return InvalidModel("a residual in f32 has no scale and no zero point");
  if (!real && type == DType::kF32)
    return InvalidModel("the result is quantized, so the residual must be quantized, got f32");
  if (!real && !c.Has(at + 1)) return InvalidModel("the residual has no scale");
  if (!real && c.In(at + 1).shape.ranked && !IsSingle(c.In(at + 1).shape))
    return InvalidModel("input 'residual_scale' must be one number, got ", c.In(at + 1).shape.ToString());
  return {};
}

// Checks that the residual has the shape of the result. Kernels do not broadcast it.
Status CheckResidualShape(const QuantizedForm& form, const InferContext& c, const Shape& y) {
  if (!form.has_epilogue || !c.Has(form.residual())) return {};
  const Shape& residual = c.In(form.residual()).shape;
  if (!residual.ranked || !y.ranked) return {};
  bool differ = residual.rank() != y.rank();
  for (int i = 0; !differ && i < y.rank(); ++i) differ = Differ(residual[i], y[i]);
  if (!differ) return {};
  return InvalidModel("the residual has shape ", residual.ToString(), ", but the result has ", y.ToString());
}

// Checks the inner scale and zero point.
Status CheckInner(const QuantizedForm& form, const InferContext& c, DType result) {
  const int at = form.inner();
  if (!c.Has(at)) return c.Has(at + 1) ? InvalidModel("inner_zero_point needs inner_scale") : Status();
  if (!c.Has(form.residual()) || !c.Has(form.result()) || !c.Has(at + 1))
    return InvalidModel("inner_scale needs inner_zero_point, a residual and y_scale");
  for (int i : {at, at + 1})
    if (c.In(i).shape.ranked && !IsSingle(c.In(i).shape))
      return InvalidModel("input '", c.op().InputPort(i).name, "' must be one number, got ",
                          c.In(i).shape.ToString());
  const DType types[] = {c.In(0).dtype, c.In(3).dtype, c.In(form.residual()).dtype, c.In(at + 1).dtype,
                         result};
  for (DType type : types)
    if (type != DType::kInvalid && BitWidth(type) != 8)
      return InvalidModel("inner_scale needs 8-bit tensors, got ", DTypeName(type));
  return {};
}

// Returns bias and residual as inputs of the op on real numbers.
Result<std::vector<InferInput>> InferEpilogueInputs(const QuantizedForm& form, const InferContext& c) {
  std::vector<InferInput> inputs;
  if (!form.has_epilogue) return inputs;
  TERN_TRY(CheckEpilogueTypes(form, c));
  const int at = form.residual();
  if (c.Has(form.bias()) || c.Has(at))
    inputs.push_back(c.Has(form.bias()) ? Typed(Type::TensorOf(DType::kF32, c.In(form.bias()).shape))
                                        : InferInput());
  if (!c.Has(at)) return inputs;
  Type residual = c.In(at);
  if (!IsReal(form, c)) {
    TERN_ASSIGN(residual, InferPart(*FindOp("Dequantize"), DequantizeAttrs(0),
                                    {Given(c, at), Given(c, at + 1), Given(c, at + 2)}));
  }
  inputs.push_back(Typed(residual));
  return inputs;
}

Tensor Given(const EvalContext& c, int i) { return c.Has(i) ? c.In(i) : Tensor(); }

Result<Tensor> RealBias(const QuantizedForm& form, const EvalContext& c) {
  if (!c.Has(form.bias()) || c.In(form.bias()).dtype() == DType::kF32) return Given(c, form.bias());
  const double first = LoadDouble(c.In(1), 0);
  const Tensor& scale = c.In(4);
  auto products = ToDoubles(scale);
  for (double& s : products) s *= first;
  return EvaluatePart(*FindOp("Dequantize"), DequantizeAttrs(0),
                      {c.In(form.bias()), Tensor::Of(DType::kF32, scale.dims(), products)});
}

Result<Tensor> RealResidual(const QuantizedForm& form, const EvalContext& c) {
  const int at = form.residual();
  if (!c.Has(at) || IsReal(form, c)) return Given(c, at);
  return EvaluatePart(*FindOp("Dequantize"), DequantizeAttrs(0), {c.In(at), c.In(at + 1), Given(c, at + 2)});
}

}  // namespace

const QuantizedForm* QuantizedFormOf(std::string_view op) {
  for (const QuantizedForm& form : kForms)
    if (op == form.name) return &form;
  return nullptr;
}

bool IsSingle(const Shape& shape) { return shape.rank() == 0 || (shape.rank() == 1 && shape[0].Is(1)); }

Attrs RealAttrs(const QuantizedForm& form, const Attrs& attrs) {
  Attrs real = FindOp(form.real)->defaults;
  for (const Attrs::Entry& entry : attrs.List())
    if (entry.name != "residual_first") TERN_CHECK(real.Set(entry.name, entry.value).ok());
  return real;
}

std::optional<int64_t> ScaleAxis(const QuantizedForm& form, const Attrs& attrs, int operand) {
  const std::string_view real = form.real;
  if (operand == 1 && real == "Conv") return 0;
  if (operand == 1 && real == "MatMul") return attrs.Bool("transpose_b") ? -2 : -1;
  return std::nullopt;
}

Status InferQuantized(const QuantizedForm& form, const Attrs& attrs, InferContext& c) {
  std::vector<InferInput> operands;
  for (int i = 0; i < form.operands; ++i) {
    TERN_ASSIGN(const Type real, InferOperand(form, attrs, c, i));
    operands.push_back(Typed(real));
  }
  TERN_ASSIGN(const auto epilogue, InferEpilogueInputs(form, c));
  operands.insert(operands.end(), epilogue.begin(), epilogue.end());
  TERN_ASSIGN(Type y, InferPart(*FindOp(form.real), RealAttrs(form, attrs), std::move(operands)));
  if (form.has_epilogue && c.Has(form.bias())) TERN_TRY(CheckBias(form, c, y.shape));
  TERN_TRY(CheckResidualShape(form, c, y.shape));
  const int zero = form.result() + 1;
  const DType to = IsReal(form, c) ? DType::kF32 : c.In(c.Has(zero) ? zero : 0).dtype;
  TERN_TRY(CheckResult(form, c, y, to));
  if (form.has_epilogue) TERN_TRY(CheckInner(form, c, to));
  c.Out("y", to, std::move(y.shape));
  return {};
}

Status EvaluateQuantized(const QuantizedForm& form, const Attrs& attrs, EvalContext& c) {
  const DType second = form.operands > 1 ? c.In(3).dtype() : DType::kInvalid;
  if (OnIntegers(form, c.In(0).dtype(), second, c.OutType(0))) return EvaluateIntegers(form, attrs, c);
  std::vector<Tensor> operands;
  for (int i = 0; i < form.operands; ++i) {
    const Attrs dequantize = DequantizeAttrs(ScaleAxis(form, attrs, i).value_or(0));
    TERN_ASSIGN(Tensor real, EvaluatePart(*FindOp("Dequantize"), dequantize,
                                          {c.In(3 * i), c.In(3 * i + 1), Given(c, 3 * i + 2)}));
    operands.push_back(std::move(real));
  }
  if (form.has_epilogue) {
    TERN_ASSIGN(Tensor bias, RealBias(form, c));
    TERN_ASSIGN(Tensor residual, RealResidual(form, c));
    operands.insert(operands.end(), {std::move(bias), std::move(residual)});
  }
  TERN_ASSIGN(Tensor real, EvaluatePart(*FindOp(form.real), RealAttrs(form, attrs), operands));
  if (IsReal(form, c)) {
    c.SetOut(0, Datum(std::move(real)));
    return {};
  }
  const OpDef& quantize = *FindOp("Quantize");
  const int at = form.result();
  TERN_ASSIGN(Tensor y,
              EvaluatePart(quantize, With(quantize, "to", c.OutType(0)), {real, c.In(at), Given(c, at + 1)}));
  c.SetOut(0, Datum(std::move(y)));
  return {};
}

std::function<CountRule> QuantizedFlops(std::function<CountRule> real) {
  return [real = std::move(real)](const Node& n) -> std::optional<double> {
    const QuantizedForm& form = *QuantizedFormOf(n.op->name);
    std::optional<double> flops = real ? real(n) : 0;
    for (int i = 0; i < form.operands; ++i) {
      const auto count = n.input(3 * i)->is_constant() ? 0 : ElementsOf(n.input(3 * i));
      flops = flops && count ? std::optional<double>(*flops + 2 * *count) : std::nullopt;
    }
    const double bias = form.has_epilogue && n.input(form.bias()) ? 1 : 0;
    const double residual = form.has_epilogue && n.input(form.residual()) ? 3 : 0;
    const double bounds = form.has_epilogue && n.attrs.Text("activation") != "none" ? 1 : 0;
    const auto last = Times(ElementsOf(n.output(0)), 3 + bias + residual + bounds);
    return flops && last ? std::optional<double>(*flops + *last) : std::nullopt;
  };
}

}  // namespace tern
