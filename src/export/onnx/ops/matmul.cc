// Exports matrix products.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

void Gemm(TernNode& n, const std::string& out) {
  const Attrs& a = n.attrs();
  n.Emit("Gemm", {n.In(0), n.In(1), n.In(2)}, {out},
         {{"transA", a.Bool("transpose_a")},
          {"transB", a.Bool("transpose_b")},
          {"alpha", static_cast<double>(a.Float("alpha"))}});
}

Result<std::string> Operand(TernNode& n, int i, bool transpose) {
  const int rank = n.TypeOf(i).shape.rank();
  if (!transpose || rank == 1) return n.In(i);
  if (rank < 0) return n.NotExportable("transposing input ", i, " needs a known rank");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  for (size_t k = 0; k < perm.size(); ++k) perm[k] = static_cast<int64_t>(k);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return n.Op("Transpose", {n.In(i)}, {{"perm", perm}});
}

bool IsByte(DType t) { return t == DType::kI8 || t == DType::kU8; }

// Emits the product of a and b as `out`, in the type of the node's output. Operands of another type are cast
// first. For operands of 8 bits, emits MatMulInteger.
std::string Product(TernNode& n, const std::string& a, const std::string& b, const std::string& out) {
  const DType ta = n.TypeOf(0).dtype, tb = n.TypeOf(1).dtype, y = n.node.output(0)->type.dtype;
  if (IsByte(ta) && IsByte(tb)) return n.Emit("MatMulInteger", {a, b}, {out});
  return n.Emit("MatMul", {CastName(n, a, ta, y), CastName(n, b, tb, y)}, {out});
}

// Emits alpha * x as `out`.
std::string Scaled(TernNode& n, const std::string& x, const std::string& out) {
  const DType type = n.node.output(0)->type.dtype;
  const float alpha = n.attrs().Float("alpha");
  if (IsFloat(type)) return n.Emit("Mul", {x, n.Scalar(type, alpha)}, {out});
  const std::string wide = n.Op("Mul", {CastName(n, x, type, DType::kF64), n.Scalar(DType::kF64, alpha)});
  return n.Emit("Cast", {wide}, {out}, {{"to", type}});
}

bool Flat(const TernNode& n) { return n.TypeOf(0).shape.rank() == 2 && n.TypeOf(1).shape.rank() == 2; }

// Emits alpha * a * b as `out`.
Status Matrices(TernNode& n, const std::string& out) {
  const Attrs& attrs = n.attrs();
  const bool ta = attrs.Bool("transpose_a"), tb = attrs.Bool("transpose_b"),
             scaled = attrs.Float("alpha") != 1;
  const bool known = n.TypeOf(0).shape.rank() > 1 && n.TypeOf(1).shape.rank() > 1 &&
                     n.TypeOf(0).dtype == DType::kF32 && n.TypeOf(1).dtype == DType::kF32;
  if ((ta || tb || scaled) && known && n.Contrib(n.node.output(0)->type.dtype)) {
    n.Emit("FusedMatMul", {n.In(0), n.In(1)}, {out},
           {{"transA", ta}, {"transB", tb}, {"alpha", static_cast<double>(attrs.Float("alpha"))}}, kContrib);
    return {};
  }
  TERN_ASSIGN(std::string a, Operand(n, 0, ta));
  TERN_ASSIGN(std::string b, Operand(n, 1, tb));
  const std::string y = Product(n, a, b, scaled ? n.Temp() : out);
  if (scaled) Scaled(n, y, out);
  return {};
}

// Emits the product and the bias as `out`, without the epilogue.
Status Sums(TernNode& n, const std::string& out) {
  const Attrs& attrs = n.attrs();
  const bool plain =
      attrs.Float("alpha") == 1 && !n.Has(2) && !attrs.Bool("transpose_a") && !attrs.Bool("transpose_b");
  if (Flat(n) && !plain && IsFloat(n.node.output(0)->type.dtype)) return Gemm(n, out), Status();
  if (!n.Has(2)) return Matrices(n, out);
  const std::string product = n.Temp();
  TERN_TRY(Matrices(n, product));
  n.Emit("Add", {product, n.In(2)}, {out});
  return {};
}

// Emits FusedGemm with the bias and activation. Returns false and emits nothing if FusedGemm does not support
// the node.
bool FusedGemm(TernNode& n) {
  static constexpr std::pair<const char*, const char*> kNames[] = {
      {"relu", "Relu"},         {"tanh", "Tanh"},         {"sigmoid", "Sigmoid"},
      {"softplus", "Softplus"}, {"softsign", "Softsign"}, {"leaky_relu", "LeakyRelu"}};
  const Attrs& a = n.attrs();
  if (!Flat(n) || !n.Has(2) || n.Has(3)) return false;
  for (const auto& [kind, name] : kNames) {
    if (a.Text("activation") != kind) continue;
    n.Emit("FusedGemm", {n.In(0), n.In(1), n.In(2)}, {n.Out(0)},
           {{"transA", a.Bool("transpose_a")},
            {"transB", a.Bool("transpose_b")},
            {"alpha", static_cast<double>(a.Float("alpha"))},
            {"activation", name},
            {"activation_alpha", static_cast<double>(a.Float("act_alpha"))}},
           kContrib);
    return true;
  }
  return false;
}

// Emits the product, then BiasGelu or FastGelu, which include the bias. Returns false and emits nothing if
// these operators do not support the node.
Result<bool> BiasGelu(TernNode& n) {
  const std::string kind = n.attrs().Text("activation");
  if (Flat(n) || !n.Has(2) || n.Has(3) || n.TypeOf(2).shape.rank() != 1) return false;
  if (!n.TypeOf(2).shape[0].known() || n.TypeOf(2).shape[0] != n.node.output(0)->type.shape[-1]) return false;
  if (kind != "gelu" && kind != "gelu_tanh") return false;
  const std::string product = n.Temp();
  TERN_TRY(Matrices(n, product));
  n.Emit(kind == "gelu" ? "BiasGelu" : "FastGelu", {product, n.In(2)}, {n.Out(0)}, {}, kContrib);
  return true;
}

bool RowOf(const Value* v, const Dim& width) {
  return v->is_constant() && v->constant.rank() == 1 && width.Is(v->constant.dim(0));
}

// Returns a LayerNorm that reads `sum`, normalises its last axis and has constant weights. Returns null if
// there is none.
const Node* NormOf(const Value* sum) {
  const Dim& width = sum->type.shape[-1];
  for (const auto& [reader, input] : sum->uses) {
    if (reader->op->name != "LayerNorm" || input != 0 || reader->graph != sum->graph) continue;
    const int64_t axis = reader->attrs.Int("axis");
    bool fits = axis == -1 || axis + 1 == sum->type.shape.rank();
    for (int i : {1, 2}) fits = fits && (!reader->input(i) || RowOf(reader->input(i), width));
    for (size_t i = 1; i < reader->outputs().size(); ++i) fits = fits && reader->outputs()[i]->unused();
    if (fits) return reader;
  }
  return nullptr;
}

// Emits the product, then a SkipLayerNormalization that adds bias and residual and also computes the
// LayerNorm that reads the sum. Returns false and emits nothing if SkipLayerNormalization does not support
// the nodes.
Result<bool> SkipNorm(TernNode& n) {
  const Value* y = n.node.output(0);
  if (!n.Has(3) || n.attrs().Text("activation") != "none" || y->type.shape.rank() != 3) return false;
  if (!y->type.shape[-1].known() || !(n.TypeOf(3).shape == y->type.shape)) return false;
  if (n.Has(2) && !RowOf(n.node.input(2), y->type.shape[-1])) return false;
  const Node* norm = NormOf(y);
  if (!norm) return false;
  const int64_t width = y->type.shape[-1].value();
  const std::string product = n.Temp();
  TERN_TRY(Matrices(n, product));
  const std::string scale =
      norm->input(1)
          ? n.NameOf(norm->input(1))
          : n.Const(Tensor::Of(DType::kF32, {width}, std::vector<double>(static_cast<size_t>(width), 1)));
  std::vector<std::string> outputs = {n.NameOf(norm->output(0))};
  if (y->uses.size() > 1 || y->output_uses) outputs.insert(outputs.end(), {"", "", n.Out(0)});
  n.Emit("SkipLayerNormalization", {product, n.In(3), scale, n.NameOf(norm->input(2)), n.In(2)}, outputs,
         {{"epsilon", static_cast<double>(norm->attrs.Float("epsilon"))}}, kContrib);
  n.TakeOver(*norm);
  return true;
}

Status MatMul(TernNode& n) {
  if (n.Contrib(n.node.output(0)->type.dtype)) {
    if (FusedGemm(n)) return {};
    TERN_ASSIGN(const bool gelu, BiasGelu(n));
    if (gelu) return {};
    TERN_ASSIGN(const bool norm, SkipNorm(n));
    if (norm) return {};
  }
  const std::string sums = SumsOf(n);
  TERN_TRY(Sums(n, sums));
  EmitEpilogue(n, sums);
  return {};
}

}  // namespace

TERN_EXPORTERS(matmul) {
  table.Add("MatMul", MatMul);
  table.Add("Einsum", DirectTo("Einsum", {"equation"}));
}

}  // namespace tern::onnx
