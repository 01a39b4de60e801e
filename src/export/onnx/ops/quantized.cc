// Exports ops on quantized tensors. If ONNX has an equivalent operator, emits this operator. Otherwise emits
// DequantizeLinear, an operator in f32, and QuantizeLinear.
#include "ops/quant/quantized.h"

#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

const QuantizedForm& FormOf(const TernNode& n) { return *QuantizedFormOf(n.node.op->name); }
DType ResultType(const TernNode& n) { return n.node.output(0)->type.dtype; }
// Returns whether the node has an activation, a residual or an f32 result. ONNX has no quantized operator for
// such a node.
bool HasEpilogue(const TernNode& n) {
  return HasActivation(n) || n.Has(FormOf(n).residual()) || ResultType(n) == DType::kF32;
}

// Returns true if ZeroPoint would return a name instead of "".
bool HasZeroPoint(const TernNode& n, int scale) {
  return n.Has(scale + 1) || n.TypeOf(scale).shape.fully_known();
}
// Returns the name of the zero point that belongs to input `scale`. If the node has none, emits zeros.
// Returns "" if the shape of the zeros is unknown.
std::string ZeroPoint(TernNode& n, int scale, DType type) {
  if (n.Has(scale + 1)) return n.In(scale + 1);
  const Shape& shape = n.TypeOf(scale).shape;
  return shape.fully_known() ? n.Const(Tensor(type, shape.Concrete())) : "";
}

std::string Real(TernNode& n, int operand) {
  const int at = 3 * operand;
  const bool single = IsSingle(n.TypeOf(at + 1).shape);
  const int64_t axis = single ? 0 : ScaleAxis(FormOf(n), n.attrs(), operand).value_or(0);
  return n.Op("DequantizeLinear", {n.In(at), n.In(at + 1), n.In(at + 2)}, {{"axis", axis}});
}

std::string RealBias(TernNode& n) {
  const int at = FormOf(n).bias();
  if (!n.Has(at) || n.TypeOf(at).dtype == DType::kF32) return n.In(at);
  const std::string scale = n.Op("Mul", {n.In(1), n.In(4)});
  return n.Op("DequantizeLinear", {n.In(at), scale}, {{"axis", int64_t{0}}});
}

std::string WithActivation(TernNode& n, const std::string& sums) {
  if (!HasActivation(n)) return sums;
  const std::string real = n.Temp();
  EmitFunction(
      n,
      {n.attrs().Text("activation"), DType::kF32, n.attrs().Float("act_alpha"), n.attrs().Float("act_beta")},
      sums, real);
  return real;
}

// Applies the activation, quantizes to the inner scale, and adds the residual.
std::string WithInner(TernNode& n, const std::string& sums) {
  const int at = FormOf(n).residual(), inner = FormOf(n).inner();
  const AttrList axis = {{"axis", int64_t{0}}};
  const std::string q = n.Op("QuantizeLinear", {WithActivation(n, sums), n.In(inner), n.In(inner + 1)}, axis);
  const std::string real = n.Op("DequantizeLinear", {q, n.In(inner), n.In(inner + 1)}, axis),
                    residual = n.Op("DequantizeLinear", {n.In(at), n.In(at + 1), n.In(at + 2)}, axis);
  return n.attrs().Bool("residual_first") ? n.Op("Add", {residual, real}) : n.Op("Add", {real, residual});
}

// Adds the residual and applies the activation. Returns the name of the result, which is the node's output if
// the result is f32.
std::string WithEpilogue(TernNode& n, std::string real) {
  const int at = FormOf(n).residual();
  const bool to_output = ResultType(n) == DType::kF32;
  if (n.Has(FormOf(n).inner())) return WithInner(n, real);
  if (n.Has(at)) {
    const std::string residual =
        to_output ? n.In(at)
                  : n.Op("DequantizeLinear", {n.In(at), n.In(at + 1), n.In(at + 2)}, {{"axis", int64_t{0}}});
    real = n.Op("Add", {real, residual});
  }
  const std::string sums = std::exchange(real, to_output ? n.Out(0) : n.Temp());
  if (HasActivation(n))
    EmitFunction(n,
                 {n.attrs().Text("activation"), DType::kF32, n.attrs().Float("act_alpha"),
                  n.attrs().Float("act_beta")},
                 sums, real);
  else if (to_output)
    n.Emit("Identity", {sums}, {real});
  else
    return sums;
  return real;
}

void Store(TernNode& n, std::string real) {
  if (FormOf(n).has_epilogue) real = WithEpilogue(n, real);
  if (ResultType(n) == DType::kF32) return;
  const int at = FormOf(n).result();
  const std::string zero = ZeroPoint(n, at, ResultType(n));
  AttrList attrs = {{"axis", int64_t{0}}};
  if (zero.empty()) attrs.emplace_back("output_dtype", ResultType(n));
  n.Emit("QuantizeLinear", {real, n.In(at), zero}, {n.Out(0)}, attrs);
}

// Returns whether QLinearConv and QLinearMatMul support the node's types. Runtimes implement them for u8 data
// with u8 or i8 weights, and for i8 data with i8 weights.
bool TypesOfQLinear(const TernNode& n) {
  const DType x = n.TypeOf(0).dtype, w = n.TypeOf(3).dtype;
  if (x != ResultType(n)) return false;
  return w == DType::kI8 ? x == DType::kI8 || x == DType::kU8 : w == DType::kU8 && x == DType::kU8;
}

bool EmitQLinear(TernNode& n, const char* op, const AttrList& attrs) {
  if (HasEpilogue(n) || !TypesOfQLinear(n)) return false;
  for (int scale : {1, 4, 6})
    if (!HasZeroPoint(n, scale)) return false;
  std::vector<std::string> inputs;
  for (int i : {0, 3}) {
    const std::string zero = ZeroPoint(n, i + 1, n.TypeOf(i).dtype);
    inputs.insert(inputs.end(), {n.In(i), n.In(i + 1), zero});
  }
  inputs.insert(inputs.end(), {n.In(6), ZeroPoint(n, 6, ResultType(n))});
  if (n.Has(8)) inputs.push_back(n.In(8));
  n.Emit(op, inputs, {n.Out(0)}, attrs);
  return true;
}

Status QConv(TernNode& n) {
  AttrList attrs = WindowToOnnx(n.attrs());
  attrs.emplace_back("group", n.attrs().Int("group"));
  if (EmitQLinear(n, "QLinearConv", attrs)) return {};
  Store(n, n.Op("Conv", {Real(n, 0), Real(n, 1), RealBias(n)}, attrs));
  return {};
}

Result<std::string> Matrix(TernNode& n, int operand, bool transpose) {
  const int rank = n.TypeOf(3 * operand).shape.rank();
  const std::string real = Real(n, operand);
  if (!transpose || rank == 1) return real;
  if (rank < 0) return n.NotExportable("transposing operand ", operand, " needs a known rank");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  for (size_t k = 0; k < perm.size(); ++k) perm[k] = static_cast<int64_t>(k);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return n.Op("Transpose", {real}, {{"perm", perm}});
}

// Emits onnxruntime's QGemm, a quantized product with bias. Returns false and emits nothing if QGemm does not
// support the node.
bool EmitQGemm(TernNode& n) {
  const auto byte = [](DType t) { return t == DType::kU8 || t == DType::kI8; };
  const bool bytes = byte(n.TypeOf(0).dtype) && byte(n.TypeOf(3).dtype) && ResultType(n) == n.TypeOf(0).dtype;
  if (!n.Contrib(DType::kF32) || !bytes || HasEpilogue(n)) return false;
  if (!IsSingle(n.TypeOf(1).shape) || !IsSingle(n.TypeOf(4).shape) || !IsSingle(n.TypeOf(6).shape))
    return false;
  std::vector<std::string> inputs;
  for (int i : {0, 3})
    inputs.insert(inputs.end(), {n.In(i), n.In(i + 1), ZeroPoint(n, i + 1, n.TypeOf(i).dtype)});
  inputs.insert(inputs.end(), {n.In(8), n.In(6), ZeroPoint(n, 6, ResultType(n))});
  n.Emit(
      "QGemm", inputs, {n.Out(0)},
      {{"transA", n.attrs().Bool("transpose_a")}, {"transB", n.attrs().Bool("transpose_b")}, {"alpha", 1.0}},
      kContrib);
  return true;
}

Status QMatMul(TernNode& n) {
  const bool ta = n.attrs().Bool("transpose_a"), tb = n.attrs().Bool("transpose_b");
  const bool flat = n.TypeOf(0).shape.rank() == 2 && n.TypeOf(3).shape.rank() == 2;
  const bool plain = !ta && !tb && !n.Has(8);
  if (plain && (flat || IsSingle(n.TypeOf(4).shape)) && EmitQLinear(n, "QLinearMatMul", {})) return {};
  if (flat && EmitQGemm(n)) return {};
  if (flat && !plain) {
    Store(n, n.Op("Gemm", {Real(n, 0), Real(n, 1), RealBias(n)}, {{"transA", ta}, {"transB", tb}}));
    return {};
  }
  TERN_ASSIGN(const std::string a, Matrix(n, 0, ta));
  TERN_ASSIGN(const std::string b, Matrix(n, 1, tb));
  const std::string product = n.Op("MatMul", {a, b});
  Store(n, n.Has(8) ? n.Op("Add", {product, RealBias(n)}) : product);
  return {};
}

// Returns whether each tensor has 8 bits, one scale and one zero point, as the QLinear operators of
// com.microsoft require.
bool ContribBytes(const TernNode& n, int operands) {
  const DType y = ResultType(n);
  bool fits = n.Contrib(DType::kF32) && (y == DType::kU8 || y == DType::kI8) &&
              !(n.attrs().Has("activation") && HasActivation(n)) &&
              IsSingle(n.TypeOf(FormOf(n).result()).shape);
  for (int i = 0; i < operands; ++i)
    fits = fits && n.TypeOf(3 * i).dtype == y && IsSingle(n.TypeOf(3 * i + 1).shape);
  return fits;
}

// Emits a com.microsoft operator. Its inputs are each operand with its scale and zero point, then the scale
// and zero point of the result.
void EmitContrib(TernNode& n, const char* op, int operands, const AttrList& attrs = {}) {
  std::vector<std::string> inputs;
  for (int i = 0; i < operands; ++i)
    inputs.insert(inputs.end(), {n.In(3 * i), n.In(3 * i + 1), ZeroPoint(n, 3 * i + 1, ResultType(n))});
  const int at = FormOf(n).result();
  inputs.insert(inputs.end(), {n.In(at), ZeroPoint(n, at, ResultType(n))});
  n.Emit(op, inputs, {n.Out(0)}, attrs, kContrib);
}

Status QBinary(TernNode& n) {
  if (ContribBytes(n, 2)) {
    EmitContrib(n, n.attrs().Text("kind") == "add" ? "QLinearAdd" : "QLinearMul", 2);
    return {};
  }
  Store(n, n.Op(n.attrs().Text("kind") == "add" ? "Add" : "Mul", {Real(n, 0), Real(n, 1)}));
  return {};
}

Status QPool(TernNode& n) {
  AttrList attrs = PoolToOnnx(n);
  attrs.emplace_back("count_include_pad", n.attrs().Bool("count_include_pad"));
  Store(n, n.Op("AveragePool", {Real(n, 0)}, attrs));
  return {};
}

Status QGlobalPool(TernNode& n) {
  if (ContribBytes(n, 1)) {
    EmitContrib(n, "QLinearGlobalAveragePool", 1, {{"channels_last", int64_t{0}}});
    return {};
  }
  Store(n, n.Op("GlobalAveragePool", {Real(n, 0)}));
  return {};
}

Status QFunction(TernNode& n) {
  const Attrs& a = n.attrs();
  const bool parameters = a.Has("alpha");
  if (a.Text("kind") == "sigmoid" && ContribBytes(n, 1)) {
    EmitContrib(n, "QLinearSigmoid", 1);
    return {};
  }
  if (a.Text("kind") == "leaky_relu" && ContribBytes(n, 1)) {
    EmitContrib(n, "QLinearLeakyRelu", 1, {{"alpha", static_cast<double>(a.Float("alpha"))}});
    return {};
  }
  const std::string y = n.Temp();
  EmitFunction(
      n,
      {a.Text("kind"), DType::kF32, parameters ? a.Float("alpha") : 1.0, parameters ? a.Float("beta") : 0.0},
      Real(n, 0), y);
  Store(n, y);
  return {};
}

Status Requantize(TernNode& n) {
  Store(n, Real(n, 0));
  return {};
}

}  // namespace

TERN_EXPORTERS(quantized) {
  table.Add("Requantize", Requantize);
  table.Add("QConv", QConv);
  table.Add("QMatMul", QMatMul);
  table.Add("QBinary", QBinary);
  table.Add("QPool", QPool);
  table.Add("QGlobalPool", QGlobalPool);
  table.Add("QUnary", QFunction);
  table.Add("QActivation", QFunction);
}

}  // namespace tern::onnx
