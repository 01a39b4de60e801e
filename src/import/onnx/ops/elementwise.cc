// Converts elementwise operators: arithmetic, comparison and logic.
#include <algorithm>

#include "import/onnx/require.h"

namespace tern::onnx {
namespace {

// Appends axes of size 1 to b, so that dim 0 of b aligns with dim `axis` of input 0. For example, if input 0
// is [2,3,4,5] and `axis` is 1, b [3,4] becomes [3,4,1].
Result<Value*> AlignAt(OnnxNode& n, Value* b, int64_t axis) {
  const int rank_a = n.RankOf(0), rank_b = b->type.shape.rank();
  if (rank_b == 0) return b;
  if (rank_a < 0 || rank_b < 0) return n.NotYet("broadcasting along axis ", axis, " needs known ranks");
  if (axis < 0) axis += rank_a;
  const int64_t behind = rank_a - axis - rank_b;
  if (axis < 0 || behind < 0)
    return n.Bad("axis ", axis, " cannot align ", b->type.ToString(), " with ", n.In(0)->type.ToString());
  if (behind == 0) return b;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < behind; ++i) axes.push_back(rank_b + i);
  return n.b.Op("Unsqueeze", {b, n.b.Ints(axes)});
}

// Returns input 1, aligned with input 0. Before opset 7, input 1 broadcasts only if attribute `broadcast` is
// set. Then its first dim aligns with dim `axis` of input 0. If `axis` is absent, the last dims of both
// inputs align.
Result<Value*> SecondOperand(OnnxNode& n) {
  const bool has_axis = n.opset < 7 && n.Int("broadcast") != 0 && n.HasAttr("axis");
  if (!n.Has(1)) return n.Bad("input 1 is missing");
  if (!has_axis || n.Int("axis") == -1) return n.In(1);
  return AlignAt(n, n.In(1), n.Int("axis"));
}

Converter BinaryOf(const char* kind) {
  return [kind](OnnxNode& n) -> Status {
    TERN_ASSIGN(Value * b, SecondOperand(n));
    n.Out(0, n.b.Op("Binary", {n.In(0), b}, {{"kind", kind}}));
    return {};
  };
}

Status Mod(OnnxNode& n) {
  n.Out(0, n.b.Op("Binary", {n.In(0), n.In(1)}, {{"kind", n.Int("fmod") ? "fmod" : "mod"}}));
  return {};
}

Status BitShift(OnnxNode& n) {
  const std::string direction = n.Text("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    return n.Bad("direction must be LEFT or RIGHT, got '", direction, "'");
  n.Out(0,
        n.b.Op("Binary", {n.In(0), n.In(1)}, {{"kind", direction == "LEFT" ? "shift_left" : "shift_right"}}));
  return {};
}

// Before opset 7, a slope vector with more than one element has one element per channel.
Status PRelu(OnnxNode& n) {
  TERN_TRY(Require(n, 1));
  Value* slope = n.In(1);
  const Shape& s = slope->type.shape;
  if (n.opset < 7 && s.rank() == 1 && !s[0].Is(1) && n.RankOf(0) > 1) {
    TERN_ASSIGN(slope, AlignAt(n, slope, 1));
  }
  n.Out(0, n.b.Op("Binary", {n.In(0), slope}, {{"kind", "prelu"}}));
  return {};
}

Converter JoinOf(const char* kind, const char* binary) {
  return [kind, binary](OnnxNode& n) -> Status {
    std::vector<Value*> inputs;
    for (int i = 0; i < n.InputCount(); ++i) inputs.push_back(n.In(i));
    if (inputs.empty()) return n.Bad("no inputs");
    n.Out(0, inputs.size() == 1   ? n.b.Op("Identity", inputs)
             : inputs.size() == 2 ? n.b.Op("Binary", inputs, {{"kind", binary}})
                                  : n.b.Op("Eltwise", inputs, {{"kind", kind}}));
    return {};
  };
}

// The op Eltwise computes a mean as a sum with coefficients such as 1/3, which it stores as f32. This is not
// precise enough for f64 inputs, so for them the sum is divided by the number of inputs.
Status Mean(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  std::vector<Value*> inputs;
  for (int i = 0; i < n.InputCount(); ++i) inputs.push_back(n.In(i));
  if (n.TypeOf(0) == DType::kF64) {
    Value* sum = n.b.Op("Eltwise", inputs);
    n.Out(0, n.b.Op("Binary", {sum, n.b.Scalar(n.TypeOf(0), n.InputCount())}, {{"kind", "div"}}));
  } else {
    const std::vector<double> parts(inputs.size(), 1.0 / static_cast<double>(inputs.size()));
    n.Out(0, n.b.Op("Eltwise", inputs, {{"coefficients", parts}}));
  }
  return {};
}

// Before opset 11, min and max are attributes instead of inputs.
Status Clip(OnnxNode& n) {
  std::vector<Value*> inputs = {n.In(0), n.In(1), n.In(2)};
  if (n.opset < 11) {
    TERN_TRY(Require(n, 0));
    if (n.HasAttr("min")) inputs[1] = n.b.Scalar(n.TypeOf(0), n.Float("min"));
    if (n.HasAttr("max")) inputs[2] = n.b.Scalar(n.TypeOf(0), n.Float("max"));
  }
  while (!inputs.back() && inputs.size() > 1) inputs.pop_back();
  n.Out(0, n.b.Op("Clip", inputs));
  return {};
}

void AddUnary(ConverterTable& table) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {{"Abs", "abs"},
                                                                   {"Neg", "neg"},
                                                                   {"Sign", "sign"},
                                                                   {"Ceil", "ceil"},
                                                                   {"Floor", "floor"},
                                                                   {"Round", "round"},
                                                                   {"Sqrt", "sqrt"},
                                                                   {"Reciprocal", "reciprocal"},
                                                                   {"Exp", "exp"},
                                                                   {"Log", "log"},
                                                                   {"Sin", "sin"},
                                                                   {"Cos", "cos"},
                                                                   {"Tan", "tan"},
                                                                   {"Asin", "asin"},
                                                                   {"Acos", "acos"},
                                                                   {"Atan", "atan"},
                                                                   {"Sinh", "sinh"},
                                                                   {"Cosh", "cosh"},
                                                                   {"Tanh", "tanh"},
                                                                   {"Asinh", "asinh"},
                                                                   {"Acosh", "acosh"},
                                                                   {"Atanh", "atanh"},
                                                                   {"Erf", "erf"},
                                                                   {"Sigmoid", "sigmoid"},
                                                                   {"Relu", "relu"},
                                                                   {"Softplus", "softplus"},
                                                                   {"Softsign", "softsign"},
                                                                   {"HardSwish", "hard_swish"},
                                                                   {"Mish", "mish"},
                                                                   {"Not", "not"},
                                                                   {"BitwiseNot", "bitwise_not"},
                                                                   {"IsNaN", "isnan"}};
  for (const auto& [onnx, kind] : kKinds) table.Add(onnx, Direct("Unary", {}, {{"kind", kind}}));
}

void AddBinary(ConverterTable& table) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {{"Add", "add"},
                                                                   {"Sub", "sub"},
                                                                   {"Mul", "mul"},
                                                                   {"Div", "div"},
                                                                   {"Pow", "pow"},
                                                                   {"And", "and"},
                                                                   {"Or", "or"},
                                                                   {"Xor", "xor"},
                                                                   {"BitwiseAnd", "bit_and"},
                                                                   {"BitwiseOr", "bit_or"},
                                                                   {"BitwiseXor", "bit_xor"},
                                                                   {"Equal", "equal"},
                                                                   {"Less", "less"},
                                                                   {"LessOrEqual", "less_equal"},
                                                                   {"Greater", "greater"},
                                                                   {"GreaterOrEqual", "greater_equal"}};
  for (const auto& [onnx, kind] : kKinds) table.Add(onnx, BinaryOf(kind));
}

}  // namespace

TERN_CONVERTERS(elementwise) {
  AddUnary(table);
  AddBinary(table);
  table.Add("Mod", Mod);
  table.Add("BitShift", BitShift);
  table.Add("PRelu", PRelu);
  table.Add("Sum", JoinOf("sum", "add"));
  table.Add("Max", JoinOf("max", "max"));
  table.Add("Min", JoinOf("min", "min"));
  table.Add("Mean", Mean);
  table.Add("Clip", Clip);
  table.Add("Where", Direct("Where"));
  table.Add("IsInf", Direct("IsInf", {"detect_negative=negative", "detect_positive=positive"}));
}

}  // namespace tern::onnx
