#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

using Names = std::pair<const char*, const char*>;  // kind, ONNX operator

template <size_t N> const char* OperatorOf(const Names (&names)[N], const std::string& kind) {
  for (const auto& [tern, onnx] : names)
    if (kind == tern) return onnx;
  return nullptr;
}

const char* SimpleOperator(const std::string& kind) {
  static constexpr Names kNames[] = {{"abs", "Abs"},
                                     {"neg", "Neg"},
                                     {"sign", "Sign"},
                                     {"ceil", "Ceil"},
                                     {"floor", "Floor"},
                                     {"round", "Round"},
                                     {"sqrt", "Sqrt"},
                                     {"reciprocal", "Reciprocal"},
                                     {"exp", "Exp"},
                                     {"log", "Log"},
                                     {"sin", "Sin"},
                                     {"cos", "Cos"},
                                     {"tan", "Tan"},
                                     {"asin", "Asin"},
                                     {"acos", "Acos"},
                                     {"atan", "Atan"},
                                     {"sinh", "Sinh"},
                                     {"cosh", "Cosh"},
                                     {"tanh", "Tanh"},
                                     {"asinh", "Asinh"},
                                     {"acosh", "Acosh"},
                                     {"atanh", "Atanh"},
                                     {"erf", "Erf"},
                                     {"sigmoid", "Sigmoid"},
                                     {"relu", "Relu"},
                                     {"softplus", "Softplus"},
                                     {"softsign", "Softsign"},
                                     {"hard_swish", "HardSwish"},
                                     {"mish", "Mish"},
                                     {"not", "Not"},
                                     {"bitwise_not", "BitwiseNot"},
                                     {"isnan", "IsNaN"}};
  return OperatorOf(kNames, kind);
}

// Emits Swish as QuickGelu or as elementary operators. ONNX's own Swish would require opset 24.
void Swish(TernNode& n, const Function& f, const std::string& x, const std::string& out) {
  if (n.Contrib(f.type)) {
    n.Emit("QuickGelu", {x}, {out}, {{"alpha", f.alpha}}, kContrib);
    return;
  }
  const std::string scaled = f.alpha == 1 ? x : n.Op("Mul", {x, n.Scalar(f.type, f.alpha)});
  n.Emit("Mul", {x, n.Op("Sigmoid", {scaled})}, {out});
}

// Emits alpha * x + beta. Omits the Mul if alpha is 1, and the Add if beta is 0.
void Affine(TernNode& n, const Function& f, const std::string& x, const std::string& out) {
  if (f.alpha == 1 && f.beta == 0) {
    n.Emit("Identity", {x}, {out});
  } else if (f.beta == 0) {
    n.Emit("Mul", {x, n.Scalar(f.type, f.alpha)}, {out});
  } else {
    const std::string scaled = f.alpha == 1 ? x : n.Op("Mul", {x, n.Scalar(f.type, f.alpha)});
    n.Emit("Add", {scaled, n.Scalar(f.type, f.beta)}, {out});
  }
}

void WithParameters(TernNode& n, const Function& f, const std::string& x, const std::string& out) {
  static constexpr Names kNames[] = {{"leaky_relu", "LeakyRelu"},
                                     {"elu", "Elu"},
                                     {"celu", "Celu"},
                                     {"selu", "Selu"},
                                     {"hard_sigmoid", "HardSigmoid"},
                                     {"thresholded_relu", "ThresholdedRelu"},
                                     {"shrink", "Shrink"}};
  AttrList attrs = {{f.kind == "shrink" ? "lambd" : "alpha", f.alpha}};
  if (f.kind == "shrink") attrs.emplace_back("bias", f.beta);
  if (f.kind == "selu") attrs.emplace_back("gamma", f.beta);
  if (f.kind == "hard_sigmoid") attrs.emplace_back("beta", f.beta);
  n.Emit(OperatorOf(kNames, f.kind), {x}, {out}, attrs);
}

Status Unary(TernNode& n) {
  EmitFunction(n, {n.attrs().Text("kind"), n.TypeOf(0).dtype}, n.In(0), n.Out(0));
  return {};
}

Status Activation(TernNode& n) {
  EmitFunction(n,
               {n.attrs().Text("kind"), n.TypeOf(0).dtype, n.attrs().Float("alpha"), n.attrs().Float("beta")},
               n.In(0), n.Out(0));
  return {};
}

Status Gelu(TernNode& n) {
  const bool exact = n.attrs().Text("approximate") == "none";
  EmitFunction(n, {exact ? "gelu" : "gelu_tanh", n.TypeOf(0).dtype}, n.In(0), n.Out(0));
  return {};
}

// Emits the floored modulo of floats as a - floor(a / b) * b, because ONNX's Mod supports only fmod for
// floats.
void FloatMod(TernNode& n) {
  const std::string quotient = n.Op("Floor", {n.Op("Div", {n.In(0), n.In(1)})});
  n.Emit("Sub", {n.In(0), n.Op("Mul", {quotient, n.In(1)})}, n.Outs());
}

// ONNX's PRelu requires that the slope broadcasts to the shape of x. If x must broadcast to the slope, emits
// elementary operators instead.
void Prelu(TernNode& n) {
  const Shape &x = n.TypeOf(0).shape, &slope = n.TypeOf(1).shape;
  bool one_way = x.ranked && slope.ranked && slope.rank() <= x.rank();
  for (int i = 1; one_way && i <= slope.rank(); ++i) one_way = slope[-i].Is(1) || slope[-i] == x[-i];
  if (one_way || !x.ranked || !slope.ranked) {
    n.Emit("PRelu", n.Ins(), n.Outs());
    return;
  }
  const std::string zero = n.Scalar(n.TypeOf(0).dtype, 0);
  n.Emit("Where", {n.Op("Less", {n.In(0), zero}), n.Op("Mul", n.Ins()), n.In(0)}, n.Outs());
}

Status Binary(TernNode& n) {
  static constexpr Names kNames[] = {{"add", "Add"},
                                     {"sub", "Sub"},
                                     {"mul", "Mul"},
                                     {"div", "Div"},
                                     {"pow", "Pow"},
                                     {"mod", "Mod"},
                                     {"fmod", "Mod"},
                                     {"min", "Min"},
                                     {"max", "Max"},
                                     {"and", "And"},
                                     {"or", "Or"},
                                     {"xor", "Xor"},
                                     {"bit_and", "BitwiseAnd"},
                                     {"bit_or", "BitwiseOr"},
                                     {"bit_xor", "BitwiseXor"},
                                     {"shift_left", "BitShift"},
                                     {"shift_right", "BitShift"},
                                     {"equal", "Equal"},
                                     {"less", "Less"},
                                     {"less_equal", "LessOrEqual"},
                                     {"greater", "Greater"},
                                     {"greater_equal", "GreaterOrEqual"}};
  const std::string kind = n.attrs().Text("kind");
  AttrList attrs;
  if (kind == "fmod") attrs = {{"fmod", true}};
  if (kind == "shift_left") attrs = {{"direction", "LEFT"}};
  if (kind == "shift_right") attrs = {{"direction", "RIGHT"}};
  if (kind == "prelu")
    Prelu(n);
  else if (kind == "mod" && IsFloat(n.TypeOf(0).dtype))
    FloatMod(n);
  else
    n.Emit(OperatorOf(kNames, kind), n.Ins(), n.Outs(), attrs);
  return {};
}

// Emits x * scale + bias. Scale and bias are vectors along an axis. Reshapes them to have trailing dims of
// size 1, so that they broadcast to x.
Status Scale(TernNode& n) {
  const Shape& x = n.TypeOf(0).shape;
  if (!x.ranked) return n.NotExportable("the rank of x is not known");
  const int64_t axis = n.attrs().Int("axis"), after = axis < 0 ? -1 - axis : x.rank() - 1 - axis;
  const auto along = [&](int i) {
    std::vector<int64_t> dims = {-1};
    dims.resize(static_cast<size_t>(after) + 1, 1);
    if (after == 0) return n.In(i);
    const Value* v = n.node.input(i);
    if (!v->is_constant()) return n.Op("Reshape", {n.In(i), n.Ints(dims)});
    dims[0] = v->constant.size();
    return n.Const(v->constant.Reshaped(dims));
  };
  const std::vector<std::string> product = {n.In(0), along(1)};
  if (!n.Has(2))
    n.Emit("Mul", product, n.Outs());
  else
    n.Emit("Add", {n.Op("Mul", product), along(2)}, n.Outs());
  return {};
}

// Emits one variadic operator (Sum, Max, Min) if ONNX supports it for the type, otherwise a chain of binary
// operators.
Status Eltwise(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  const DType type = n.node.output(0)->type.dtype;
  const std::vector<float> factors = n.attrs().Floats("coefficients");
  std::vector<std::string> inputs = n.Ins();
  for (size_t i = 0; i < factors.size(); ++i)
    if (factors[i] != 1) inputs[i] = n.Op("Mul", {inputs[i], n.Scalar(type, factors[i])});
  if (inputs.size() == 1) {
    n.Emit("Identity", inputs, n.Outs());
  } else if (kind == "max" || kind == "min" || (kind == "sum" && IsFloat(type))) {
    n.Emit(kind == "max" ? "Max" : kind == "min" ? "Min" : "Sum", inputs, n.Outs());
  } else {
    const char* step = kind == "sum" ? "Add" : "Mul";
    std::string so_far = inputs[0];
    for (size_t i = 1; i + 1 < inputs.size(); ++i) so_far = n.Op(step, {so_far, inputs[i]});
    n.Emit(step, {so_far, inputs.back()}, n.Outs());
  }
  return {};
}

// ONNX requires that min and max are scalars.
Status Clip(TernNode& n) {
  std::vector<std::string> inputs = {n.In(0), n.In(1), n.In(2)};
  for (int i : {1, 2})
    if (n.Has(i) && n.TypeOf(i).shape.rank() != 0)
      inputs[static_cast<size_t>(i)] = n.Op("Reshape", {n.In(i), n.Ints({})});
  n.Emit("Clip", inputs, n.Outs());
  return {};
}

Status Cast(TernNode& n) {
  const DType to = n.attrs().Type("to");
  AttrList attrs = {{"to", to}};
  if (IsFloat(to) && BitWidth(to) == 8) attrs.emplace_back("saturate", n.attrs().Bool("saturate"));
  if (to == DType::kF8E8M0) attrs.emplace_back("round_mode", n.attrs().Text("round_mode"));
  n.Emit("Cast", n.Ins(), n.Outs(), attrs);
  return {};
}

Status BitCast(TernNode& n) {
  n.NeedOpset(26);
  n.Emit("BitCast", n.Ins(), n.Outs(), {{"to", n.attrs().Type("to")}});
  return {};
}

}  // namespace

void EmitFunction(TernNode& n, const Function& f, const std::string& x, const std::string& out) {
  if (const char* simple = SimpleOperator(f.kind))
    n.Emit(simple, {x}, {out});
  else if (f.kind == "gelu" || f.kind == "gelu_tanh")
    n.Emit("Gelu", {x}, {out}, {{"approximate", f.kind == "gelu" ? "none" : "tanh"}});
  else if (f.kind == "clip")
    n.Emit("Clip", {x, n.Scalar(f.type, f.alpha), n.Scalar(f.type, f.beta)}, {out});
  else if (f.kind == "swish")
    Swish(n, f, x, out);
  else if (f.kind == "affine")
    Affine(n, f, x, out);
  else
    WithParameters(n, f, x, out);
}

TERN_EXPORTERS(elementwise) {
  table.Add("Unary", Unary);
  table.Add("Activation", Activation);
  table.Add("Gelu", Gelu);
  table.Add("IsInf", DirectTo("IsInf", {"negative=detect_negative", "positive=detect_positive"}));
  table.Add("Binary", Binary);
  table.Add("Eltwise", Eltwise);
  table.Add("Scale", Scale);
  table.Add("Where", DirectTo("Where"));
  table.Add("Clip", Clip);
  table.Add("Cast", Cast);
  table.Add("BitCast", BitCast);
}

}  // namespace tern::onnx
