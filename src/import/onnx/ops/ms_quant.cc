// Converts operators of com.microsoft on quantized tensors. Most of them become Dequantize, a float op and
// Quantize. Some become one of Tern's quantized ops.
#include "import/onnx/ops/emit.h"
#include "import/onnx/ops/rnn_activations.h"
#include "import/onnx/ops/window_attrs.h"
#include "ops/quant/quantized.h"

namespace tern::onnx {
namespace {

Value* Real(Emit& e, Value* x, Value* scale, Value* zero) { return e.b.Op("Dequantize", {x, scale, zero}); }

// Quantizes y to the type of the zero point. If there is no zero point, quantizes y to the type `like`.
Value* Stored(Emit& e, Value* y, Value* scale, Value* zero, DType like) {
  return e.b.Op("Quantize", {y, scale, zero}, {{"to", zero ? zero->type.dtype : like}});
}

// Returns whether QBinary supports the inputs. They must be tensors of 8 or 16 bits, with one f32 scale each.
bool TakenByQBinary(const OnnxNode& n) {
  for (int i : {0, 3})
    if (!(kQuantized & SetOf(n.TypeOf(i)))) return false;
  for (int i : {1, 4, 6})
    if (n.TypeOf(i) != DType::kF32) return false;
  for (int i : {1, 2, 4, 5, 6, 7})
    if (n.Has(i) && !IsSingle(n.In(i)->type.shape)) return false;
  return true;
}

Status QLinearBinary(OnnxNode& n, const char* kind) {
  for (int i : {0, 1, 3, 4, 6}) TERN_TRY(Require(n, i));
  if (TakenByQBinary(n)) {
    n.Out(0, n.b.Op("QBinary", {n.In(0), n.In(1), n.In(2), n.In(3), n.In(4), n.In(5), n.In(6), n.In(7)},
                    {{"kind", kind}}));
    return {};
  }
  Emit e(n);
  Value* y = e.Binary(kind, Real(e, n.In(0), n.In(1), n.In(2)), Real(e, n.In(3), n.In(4), n.In(5)));
  n.Out(0, Stored(e, y, n.In(6), n.In(7), n.TypeOf(0)));
  return {};
}

// Returns a converter for an operator whose inputs are x, the scale and zero point of x, and the scale and
// zero point of the result. `compute` emits the operator on floats.
template <class F> Converter QLinearUnary(F compute) {
  return [=](OnnxNode& n) -> Status {
    for (int i : {0, 1, 3}) TERN_TRY(Require(n, i));
    Emit e(n);
    TERN_ASSIGN(Value * y, compute(e, Real(e, n.In(0), n.In(1), n.In(2))));
    n.Out(0, Stored(e, y, n.In(3), n.In(4), n.TypeOf(0)));
    return {};
  };
}

Result<Value*> Sigmoid(Emit& e, Value* x) { return e.Unary("sigmoid", x); }

Result<Value*> LeakyRelu(Emit& e, Value* x) {
  return e.b.Op("Activation", {x},
                {{"kind", "leaky_relu"}, {"alpha", static_cast<double>(e.n.Float("alpha", 0.01f))}});
}

Result<Value*> Softmax(Emit& e, Value* x) {
  const int64_t axis = e.n.Int("axis", -1);
  if (e.n.Int("opset", 13) >= 13) return e.b.Op("Softmax", {x}, {{"axis", axis}});
  Value* flat = e.b.Op("Flatten", {x}, {{"axis", axis}});
  return e.b.Op("Reshape", {e.b.Op("Softmax", {flat}, {{"axis", int64_t{1}}}), e.b.Op("Shape", {x})});
}

Result<Value*> ReduceMean(Emit& e, Value* x) {
  return e.Reduce("mean", x, e.n.Ints("axes"), e.n.Int("keepdims", 1) != 0);
}

Result<Value*> GlobalAverage(Emit& e, Value* x) {
  if (!e.n.Int("channels_last")) return e.b.Op("GlobalPool", {x}, {{"kind", "average"}});
  const int rank = x->type.shape.rank();
  if (rank < 3) return e.n.NotYet("an input of type ", x->type.ToString());
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
  return e.Reduce("mean", x, axes, true);
}

Result<Value*> AveragePool(Emit& e, Value* x) {
  OnnxNode& n = e.n;
  const auto kernel = n.Ints("kernel_shape");
  if (kernel.empty()) return n.Bad("attribute 'kernel_shape' is missing");
  const bool last = n.Int("channels_last") != 0, ceil_mode = n.Int("ceil_mode") != 0;
  if (last && x->type.shape.rank() < 3) return n.NotYet("an input of type ", x->type.ToString());
  if (last) x = e.ChannelsFirst(x);
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, x->type.shape, {kernel.begin(), kernel.end()}, ceil_mode));
  attrs.insert(attrs.end(), {{"kind", "average"},
                             {"kernel", kernel},
                             {"ceil_mode", ceil_mode},
                             {"count_include_pad", n.Int("count_include_pad") != 0}});
  Value* y = n.b.Op("Pool", {x}, attrs);
  return last ? e.ChannelsLast(y) : y;
}

Status NhwcMaxPool(OnnxNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  const auto kernel = n.Ints("kernel_shape");
  if (n.RankOf(0) < 3) return n.NotYet("an input of type ", n.In(0)->type.ToString());
  Value* x = e.ChannelsFirst(n.In(0));
  const bool ceil_mode = n.Int("ceil_mode") != 0;
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, x->type.shape, {kernel.begin(), kernel.end()}, ceil_mode));
  attrs.insert(attrs.end(), {{"kind", "max"}, {"kernel", kernel}, {"ceil_mode", ceil_mode}});
  n.Out(0, e.ChannelsLast(n.b.Op("Pool", {x}, attrs)));
  return {};
}

// The first inputs are the scale and zero point of the result. Three inputs follow for each part to
// concatenate: a tensor, its scale and its zero point.
Status QLinearConcat(OnnxNode& n) {
  if (n.InputCount() < 5 || (n.InputCount() - 2) % 3)
    return n.Bad("must have 2 inputs and 3 further inputs for each part, got ", n.InputCount(), " inputs");
  Emit e(n);
  std::vector<Value*> parts;
  for (int i = 2; i < n.InputCount(); i += 3) {
    for (int k : {i, i + 1}) TERN_TRY(Require(n, k));
    parts.push_back(Real(e, n.In(i), n.In(i + 1), n.In(i + 2)));
  }
  n.Out(0, Stored(e, e.Concat(parts, n.Int("axis")), n.In(0), n.In(1), n.TypeOf(2)));
  return {};
}

Status QLinearWhere(OnnxNode& n) {
  for (int i : {1, 2, 4, 5, 7}) TERN_TRY(Require(n, i));
  Emit e(n);
  Value* y =
      n.b.Op("Where", {n.In(0), Real(e, n.In(1), n.In(2), n.In(3)), Real(e, n.In(4), n.In(5), n.In(6))});
  n.Out(0, Stored(e, y, n.In(7), n.In(8), n.TypeOf(1)));
  return {};
}

// Returns whether QMatMul supports the inputs of QGemm. b may have one scale per column (input 4).
bool TakenByQMatMul(const OnnxNode& n) {
  for (int i : {0, 3})
    if (!(kQuantized & SetOf(n.TypeOf(i))) || n.RankOf(i) != 2) return false;
  for (int i : {1, 4, 7})
    if (n.TypeOf(i) != DType::kF32) return false;
  for (int i : {1, 2, 7, 8})
    if (n.Has(i) && !IsSingle(n.In(i)->type.shape)) return false;
  if (n.Has(6) && (n.RankOf(6) != 1 || n.In(6)->type.shape[0].Is(1))) return false;
  const Shape& scale = n.In(4)->type.shape;
  if (!n.Has(5)) return scale.rank() == 0 || scale.rank() == 1;
  const Shape& zero = n.In(5)->type.shape;
  if (IsSingle(scale)) return IsSingle(zero);
  return scale.rank() == 1 && zero.rank() == 1 && scale[0].known() && scale[0] == zero[0];
}

Status QGemm(OnnxNode& n) {
  for (int i : {0, 1, 3, 4}) TERN_TRY(Require(n, i));
  Emit e(n);
  if (n.Has(7) && n.Float("alpha", 1) == 1 && TakenByQMatMul(n)) {
    n.Out(0,
          n.b.Op("QMatMul", {n.In(0), n.In(1), n.In(2), n.In(3), n.In(4), n.In(5), n.In(7), n.In(8), n.In(6)},
                 {{"transpose_a", n.Int("transA") != 0}, {"transpose_b", n.Int("transB") != 0}}));
    return {};
  }
  Value* b = n.Int("transB") ? e.Transpose(n.In(3), {1, 0}) : n.In(3);
  Value* sum = n.b.Op("MatMul", {e.Shifted(n.In(0), n.In(2)), e.Shifted(b, n.In(5)), n.In(6)},
                      {{"transpose_a", n.Int("transA") != 0}});
  Value* scale = e.Mul(e.Mul(n.In(1), n.In(4)), e.Like(n.In(1), n.Float("alpha", 1)));
  Value* y = e.Mul(e.Cast(sum, DType::kF32), scale);
  n.Out(0, n.Has(7) ? Stored(e, y, n.In(7), n.In(8), n.TypeOf(0)) : y);
  return {};
}

// Emits (a - a_zero) * (b - b_zero) * scale + bias, where the first product is a matrix product. `b_zero`,
// `scale` and `bias` may have one element per column. If b is a batch of matrices, they may also have a batch
// axis.
Value* Product(Emit& e, Value* a, Value* a_zero, Value* b, Value* b_zero, Value* scale, Value* bias) {
  Value* sum = e.b.Op("MatMul", {e.Shifted(a, a_zero), e.Shifted(b, b_zero)});
  Value* y = e.Mul(e.Cast(sum, scale->type.dtype), scale);
  return bias ? e.Add(y, bias) : y;
}

Status MatMulIntegerToFloat(OnnxNode& n) {
  for (int i : {0, 1, 2, 3}) TERN_TRY(Require(n, i));
  Emit e(n);
  n.Out(0, Product(e, n.In(0), n.In(4), n.In(1), n.In(5), e.Mul(n.In(2), n.In(3)), n.In(6)));
  return {};
}

struct Dynamic {
  Value *x, *scale, *zero;
};

// Quantizes x to u8 with one scale and one zero point. The quantized range covers all elements of x, and 0.
Dynamic Quantized(Emit& e, Value* x) {
  const auto range = e.b.Ops("DynamicScale", {x}, {}, 2);
  return {e.b.Op("Quantize", {x, range[0], range[1]}), range[0], range[1]};
}

Status DynamicQuantizeMatMul(OnnxNode& n) {
  TERN_TRY(Require(n, 0, SetOf(DType::kF32)));
  for (int i : {1, 2}) TERN_TRY(Require(n, i));
  Emit e(n);
  const Dynamic a = Quantized(e, n.In(0));
  n.Out(0, Product(e, a.x, a.zero, n.In(1), n.In(3), e.Mul(a.scale, n.In(2)), n.In(4)));
  return {};
}

Status MsQuantizeLinear(OnnxNode& n) {
  Emit e(n);
  n.Out(0, n.b.Op("Quantize", {n.In(0), n.In(1), n.In(2)}, {{"axis", n.Int("axis", 1)}}));
  return {};
}

Status MsDequantizeLinear(OnnxNode& n) {
  n.Out(0, n.b.Op("Dequantize", {n.In(0), n.In(1), n.In(2)}, {{"axis", n.Int("axis", 1)}}));
  return {};
}

// Dequantizes w and transposes it from [directions, inputs, 4 * hidden] to [directions, 4 * hidden, inputs],
// as the op Rnn requires.
Value* GateWeights(Emit& e, Value* w, Value* scale, Value* zero) {
  const auto column = [&](Value* v) {
    if (!v) return v;
    return e.Cast(v->type.shape.rank() == 2 ? e.Unsqueeze(v, {1}) : e.Reshape(v, {-1, 1, 1}), DType::kF32);
  };
  Value* real = e.Cast(w, DType::kF32);
  if (zero) real = e.Sub(real, column(zero));
  return e.Transpose(e.Mul(real, column(scale)), {0, 2, 1});
}

Status DynamicQuantizeLstm(OnnxNode& n) {
  for (int i : {0, 1, 2, 8, 10}) TERN_TRY(Require(n, i));
  AttrList attrs = {{"kind", "lstm"},
                    {"direction", n.Text("direction", "forward")},
                    {"hidden_size", n.Int("hidden_size")},
                    {"clip", static_cast<double>(n.Float("clip"))},
                    {"input_forget", n.Int("input_forget") != 0}};
  TERN_TRY(AddActivations(n, attrs));
  Emit e(n);
  Value* w = GateWeights(e, n.In(1), n.In(8), n.In(9));
  Value* r = GateWeights(e, n.In(2), n.In(10), n.In(11));
  n.Out(n.b.Ops("Rnn", {n.In(0), w, r, n.In(3), n.In(4), n.In(5), n.In(6), n.In(7)}, attrs, 3));
  return {};
}

// The operator equals ONNX's QLinearConv, except that x and the result may be channels-last.
Status MsQLinearConv(OnnxNode& n) {
  for (int i = 0; i < 7; ++i)
    if (i != 2 && i != 5) TERN_TRY(Require(n, i));
  Emit e(n);
  const bool last = n.Int("channels_last") != 0;
  if (n.RankOf(0) < 3 || n.RankOf(3) < 3)
    return n.NotYet("inputs of types ", n.In(0)->type.ToString(), " and ", n.In(3)->type.ToString());
  Value* x = last ? e.ChannelsFirst(n.In(0)) : n.In(0);
  std::vector<int64_t> inner;
  for (int64_t i = 1; i < n.RankOf(3); ++i) inner.push_back(i);
  const auto per_channel = [&](Value* v, size_t axes) {
    return v && v->type.shape.rank() == 1 && !v->type.shape[0].Is(1)
               ? e.Unsqueeze(v, {inner.begin(), inner.begin() + static_cast<int64_t>(axes)})
               : v;
  };
  TERN_ASSIGN(auto kernel, KernelOf(n, n.In(3)->type.shape));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, x->type.shape, kernel));
  attrs.emplace_back("group", n.Int("group", 1));
  Value* sum =
      n.b.Op("Conv", {e.Shifted(x, n.In(2)), e.Shifted(n.In(3), per_channel(n.In(5), inner.size())), n.In(8)},
             attrs);
  Value* y = e.Mul(e.Cast(sum, DType::kF32), e.Mul(n.In(1), per_channel(n.In(4), inner.size() - 1)));
  y = Stored(e, y, n.In(6), n.In(7), n.TypeOf(0));
  n.Out(0, last ? e.ChannelsLast(y) : y);
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_quant) {
  table.Add(
      "QLinearAdd", [](OnnxNode& n) { return QLinearBinary(n, "add"); }, kMicrosoft);
  table.Add(
      "QLinearMul", [](OnnxNode& n) { return QLinearBinary(n, "mul"); }, kMicrosoft);
  table.Add("QLinearSigmoid", QLinearUnary(Sigmoid), kMicrosoft);
  table.Add("QLinearLeakyRelu", QLinearUnary(LeakyRelu), kMicrosoft);
  table.Add("QLinearSoftmax", QLinearUnary(Softmax), kMicrosoft);
  table.Add("QLinearReduceMean", QLinearUnary(ReduceMean), kMicrosoft);
  table.Add("QLinearGlobalAveragePool", QLinearUnary(GlobalAverage), kMicrosoft);
  table.Add("QLinearAveragePool", QLinearUnary(AveragePool), kMicrosoft);
  table.Add("QLinearConcat", QLinearConcat, kMicrosoft);
  table.Add("QLinearWhere", QLinearWhere, kMicrosoft);
  table.Add("QLinearConv", MsQLinearConv, kMicrosoft);
  table.Add("QGemm", QGemm, kMicrosoft);
  table.Add("MatMulIntegerToFloat", MatMulIntegerToFloat, kMicrosoft);
  table.Add("DynamicQuantizeMatMul", DynamicQuantizeMatMul, kMicrosoft);
  table.Add("DynamicQuantizeLSTM", DynamicQuantizeLstm, kMicrosoft);
  table.Add("QuantizeLinear", MsQuantizeLinear, kMicrosoft);
  table.Add("DequantizeLinear", MsDequantizeLinear, kMicrosoft);
  table.Add("NhwcMaxPool", NhwcMaxPool, kMicrosoft);
}

}  // namespace tern::onnx
