// Converts functions of single elements, with broadcasting.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// Returns the operands in one layout. [N, C, H, W] is used if an operand exists only in this layout.
std::vector<Value*> Operands(LiteNode& n, int count, bool real, Layout& layout) {
  layout = Layout::kLast;
  for (int i = 0; i < count; ++i)
    if (n.LayoutOf(i) == Layout::kFirst) layout = Layout::kFirst;
  std::vector<Value*> out;
  for (int i = 0; i < count; ++i) {
    const int rank = layout == Layout::kLast ? -1 : n.LayoutOf(i) == Layout::kFirst ? 4 : n.RankOf(i);
    if (rank == 4 || layout == Layout::kLast) {
      out.push_back(real ? n.Real(i, layout) : n.In(i, layout));
    } else {
      Value* v = real ? n.Real(i) : n.In(i);
      out.push_back(rank == 0 ? v : Transposed(n.b, WithRank(n.b, v, 4), kToFirst));
    }
  }
  return out;
}

std::function<Status(LiteNode&)> UnaryOf(const char* kind) {
  return [kind](LiteNode& n) -> Status {
    const Layout layout = n.LayoutOf(0);
    n.OutReal(0, Unary(n.b, kind, n.Real(0, layout)), layout);
    return {};
  };
}

// Returns a converter for a function on real numbers, which `emit` builds from ops.
std::function<Status(LiteNode&)> Composed(Value* (*emit)(LiteNode&, Value*)) {
  return [emit](LiteNode& n) -> Status {
    const Layout layout = n.LayoutOf(0);
    n.OutReal(0, emit(n, n.Real(0, layout)), layout);
    return {};
  };
}

template <class Options> int ActivationOf(const LiteNode& n) { return n.Options<Options>().activation(); }
int NoActivation(const LiteNode&) { return 0; }

std::function<Status(LiteNode&)> BinaryOf(const char* kind,
                                          int (*activation)(const LiteNode&) = NoActivation) {
  return [=](LiteNode& n) -> Status {
    Layout layout;
    const auto in = Operands(n, 2, true, layout);
    n.OutReal(0, n.Activate(Binary(n.b, kind, in[0], in[1]), activation(n)), layout);
    return {};
  };
}

// Compares quantized tensors as real numbers.
std::function<Status(LiteNode&)> Compare(const char* kind, bool negate = false) {
  return [=](LiteNode& n) -> Status {
    Layout layout;
    const auto in = Operands(n, 2, true, layout);
    Value* y = Binary(n.b, kind, in[0], in[1]);
    n.Out(0, negate ? Unary(n.b, "not", y) : y, layout);
    return {};
  };
}

std::function<Status(LiteNode&)> Bitwise(const char* kind) {
  return [kind](LiteNode& n) -> Status {
    n.Out(0, Binary(n.b, kind, n.In(0), n.In(1)));
    return {};
  };
}

// floor(a / b). Integer division truncates, so the quotient is one too large if the signs differ and the
// remainder is not 0.
Status FloorDiv(LiteNode& n) {
  Layout layout;
  const auto in = Operands(n, 2, true, layout);
  Value* q = Binary(n.b, "div", in[0], in[1]);
  if (IsFloat(q->type.dtype)) {
    n.OutReal(0, Unary(n.b, "floor", q), layout);
    return {};
  }
  Value* rest = Binary(n.b, "mod", in[0], in[1]);  // has the sign of the divisor
  Value* exact = Binary(n.b, "sub", in[0], rest);
  n.OutReal(0, Binary(n.b, "div", exact, in[1]), layout);
  return {};
}

Status FloorMod(LiteNode& n) {
  Layout layout;
  const auto in = Operands(n, 2, true, layout);
  if (IsInt(in[0]->type.dtype)) {
    n.OutReal(0, Binary(n.b, "mod", in[0], in[1]), layout);
    return {};
  }
  // fmod has the sign of the dividend. The result has the sign of the divisor.
  Value* rest = Binary(n.b, "fmod", in[0], in[1]);
  Value* zero = ScalarLike(n.b, rest, 0);
  Value* opposite = Binary(n.b, "xor", Binary(n.b, "less", rest, zero), Binary(n.b, "less", in[1], zero));
  Value* some = Unary(n.b, "not", Binary(n.b, "equal", rest, zero));
  Value* wrong = Binary(n.b, "and", opposite, some);
  n.OutReal(0, n.b.Op("Where", {wrong, Binary(n.b, "add", rest, in[1]), rest}), layout);
  return {};
}

Status SquaredDifference(LiteNode& n) {
  Layout layout;
  const auto in = Operands(n, 2, true, layout);
  Value* d = Binary(n.b, "sub", in[0], in[1]);
  n.OutReal(0, Binary(n.b, "mul", d, d), layout);
  return {};
}

Status AddN(LiteNode& n) {
  if (n.InputCount() < 1) return n.Bad("has no inputs");
  Layout layout;
  const auto in = Operands(n, n.InputCount(), true, layout);
  Value* sum = in[0];
  for (size_t i = 1; i < in.size(); ++i) sum = Binary(n.b, "add", sum, in[i]);
  n.OutReal(0, sum, layout);
  return {};
}

// The angle of the point (x, y), from atan(y / x) and the quadrant.
Status Atan2(LiteNode& n) {
  Builder& b = n.b;
  Value *y = n.Real(0), *x = n.Real(1);
  const double pi = 3.14159265358979323846;
  const auto c = [&](double v) { return ScalarLike(b, y, v); };
  Value *zero = c(0), *negative_y = Binary(b, "less", y, zero);
  Value* turn = b.Op("Where", {negative_y, c(-pi), c(pi)});
  Value* angle = Unary(b, "atan", Binary(b, "div", y, x));
  Value* left = Binary(b, "less", x, zero);
  angle = b.Op("Where", {left, Binary(b, "add", angle, turn), angle});
  Value* half = b.Op("Where", {negative_y, c(-pi / 2), c(pi / 2)});
  half = b.Op("Where", {Binary(b, "equal", y, zero), c(0), half});
  n.OutReal(0, b.Op("Where", {Binary(b, "equal", x, zero), half, angle}));
  return {};
}

// TensorFlow Lite requires that exponents of integers are not negative.
Status Pow(LiteNode& n) {
  Layout layout;
  const auto in = Operands(n, 2, true, layout);
  n.OutReal(0, Binary(n.b, "pow", in[0], in[1]), layout);
  return {};
}

Value* Rsqrt(LiteNode& n, Value* x) { return Unary(n.b, "reciprocal", Unary(n.b, "sqrt", x)); }
Value* Square(LiteNode& n, Value* x) { return Binary(n.b, "mul", x, x); }
Value* Clipped(LiteNode& n, Value* x, double low, double high) {
  return n.b.Op("Clip", {x, ScalarLike(n.b, x, low), ScalarLike(n.b, x, high)});
}
Value* Relu6(LiteNode& n, Value* x) { return Clipped(n, x, 0, 6); }
Value* ReluN1To1(LiteNode& n, Value* x) { return Clipped(n, x, -1, 1); }
Value* Relu0To1(LiteNode& n, Value* x) { return Clipped(n, x, 0, 1); }
Value* Elu(LiteNode& n, Value* x) { return n.b.Op("Activation", {x}, {{"kind", "elu"}, {"alpha", 1.0}}); }
Value* LeakyRelu(LiteNode& n, Value* x) {
  const double alpha = static_cast<double>(n.Options<fb::LeakyReluOptions>().alpha());
  return n.b.Op("Activation", {x}, {{"kind", "leaky_relu"}, {"alpha", alpha}});
}
Value* Gelu(LiteNode& n, Value* x) {
  return n.b.Op("Gelu", {x}, {{"approximate", n.Options<fb::GeluOptions>().approximate() ? "tanh" : "none"}});
}

Status LogicalNot(LiteNode& n) {
  n.Out(0, Unary(n.b, "not", n.In(0)));
  return {};
}

// The slopes have the shape [1, 1, C], or another shape that broadcasts to x.
Status Prelu(LiteNode& n) {
  Layout layout;
  const auto in = Operands(n, 2, true, layout);
  n.OutReal(0, Binary(n.b, "prelu", in[0], in[1]), layout);
  return {};
}

// The condition of SELECT may have only the first dim of the other inputs.
Status Select(LiteNode& n) {
  Value *condition = n.In(0), *a = n.In(1), *c = n.In(2);
  const int rank = a->type.shape.rank(), have = condition->type.shape.rank();
  if (n.op() == "SELECT" && have == 1 && rank > 1) {
    std::vector<int64_t> axes;
    for (int i = 1; i < rank; ++i) axes.push_back(i);
    condition = Unsqueezed(n.b, condition, axes);
  }
  n.Out(0, n.b.Op("Where", {condition, a, c}));
  return {};
}

Status ZerosLike(LiteNode& n) {
  Value* x = n.In(0);
  n.Out(0, n.b.Op("Fill", {ShapeOf(n.b, x)}, {{"value", Tensor(x->type.dtype, {1})}}));
  return {};
}

Status CastOp(LiteNode& n) {
  const Layout layout = n.LayoutOf(0);
  Value* x = n.In(0, layout);
  const DType to = n.InfoOut(0).dtype;
  if (to == DType::kInvalid || IsComplex(to)) return n.NotYet("a cast to a complex number or resource");
  n.Out(0, CastTo(n.b, x, to), layout);
  return {};
}

}  // namespace

TERN_CONVERTERS(elementwise) {
  table.Add("ABS", 1, UnaryOf("abs"));
  table.Add("CEIL", 1, UnaryOf("ceil"));
  table.Add("COS", 1, UnaryOf("cos"));
  table.Add("EXP", 1, UnaryOf("exp"));
  table.Add("FLOOR", 1, UnaryOf("floor"));
  table.Add("HARD_SWISH", 1, UnaryOf("hard_swish"));
  table.Add("LOG", 1, UnaryOf("log"));
  table.Add("LOGISTIC", 1, UnaryOf("sigmoid"));
  table.Add("NEG", 1, UnaryOf("neg"));
  table.Add("RELU", 1, UnaryOf("relu"));
  table.Add("ROUND", 1, UnaryOf("round"));
  table.Add("SIGN", 1, UnaryOf("sign"));
  table.Add("SIN", 1, UnaryOf("sin"));
  table.Add("SQRT", 1, UnaryOf("sqrt"));
  table.Add("TANH", 1, UnaryOf("tanh"));
  table.Add("RSQRT", 1, Composed(Rsqrt));
  table.Add("SQUARE", 1, Composed(Square));
  table.Add("RELU6", 1, Composed(Relu6));
  table.Add("RELU_N1_TO_1", 1, Composed(ReluN1To1));
  table.Add("RELU_0_TO_1", 1, Composed(Relu0To1));
  table.Add("ELU", 1, Composed(Elu));
  table.Add("LEAKY_RELU", 1, Composed(LeakyRelu));
  table.Add("GELU", 1, Composed(Gelu));
  table.Add("PRELU", 2, Prelu);
  table.Add("ADD", 2, BinaryOf("add", ActivationOf<fb::AddOptions>));
  table.Add("SUB", 2, BinaryOf("sub", ActivationOf<fb::SubOptions>));
  table.Add("MUL", 2, BinaryOf("mul", ActivationOf<fb::MulOptions>));
  table.Add("DIV", 2, BinaryOf("div", ActivationOf<fb::DivOptions>));
  table.Add("MAXIMUM", 2, BinaryOf("max"));
  table.Add("MINIMUM", 2, BinaryOf("min"));
  table.Add("POW", 2, Pow);
  table.Add("FLOOR_DIV", 2, FloorDiv);
  table.Add("FLOOR_MOD", 2, FloorMod);
  table.Add("SQUARED_DIFFERENCE", 2, SquaredDifference);
  table.Add("ADD_N", 1, AddN);
  table.Add("ATAN2", 2, Atan2);
  table.Add("EQUAL", 2, Compare("equal"));
  table.Add("NOT_EQUAL", 2, Compare("equal", true));
  table.Add("LESS", 2, Compare("less"));
  table.Add("LESS_EQUAL", 2, Compare("less_equal"));
  table.Add("GREATER", 2, Compare("greater"));
  table.Add("GREATER_EQUAL", 2, Compare("greater_equal"));
  table.Add("LOGICAL_AND", 2, Bitwise("and"));
  table.Add("LOGICAL_OR", 2, Bitwise("or"));
  table.Add("LOGICAL_NOT", 1, LogicalNot);
  table.Add("BITWISE_XOR", 2,
            [](LiteNode& n) { return Bitwise(n.TypeOf(0) == DType::kBool ? "xor" : "bit_xor")(n); });
  table.Add("RIGHT_SHIFT", 2, Bitwise("shift_right"));
  table.Add("SELECT", 3, Select);
  table.Add("SELECT_V2", 3, Select);
  table.Add("ZEROS_LIKE", 1, ZerosLike);
  table.Add("CAST", 1, CastOp);
}

}  // namespace tern::tflite
