// Converts matrix products.
#include "import/tflite/ops/emit.h"
#include "import/tflite/ops/hybrid.h"

namespace tern::tflite {
namespace {

// Returns x with the dims [rows, columns], in the form that is stored.
Result<Value*> Rows(LiteNode& n, const Dim& columns, bool keep_dims) {
  Value* x = n.In(0);
  const Shape& shape = x->type.shape;
  if (!columns.known()) return n.NotYet("weights of unknown size");
  if (keep_dims || (shape.rank() == 2 && shape[1] == columns)) return x;
  return Reshaped(n.b, x, {-1, columns.value()});
}

Status FullyConnected(LiteNode& n) {
  const auto& o = n.Options<fb::FullyConnectedOptions>();
  if (o.weights_format() != 0) return n.NotYet("shuffled weights");
  const Shape weights = n.In(1)->type.shape;
  if (weights.rank() != 2) return n.Bad("the weights must have 2 dims, got ", weights.ToString());
  TERN_ASSIGN(Value * x, Rows(n, weights[1], o.keep_num_dims()));
  Value* y = nullptr;
  if (IsHybrid(n, 0, 1)) {
    Value* rows = x->type.shape.rank() == 2 ? x : Reshaped(n.b, x, {-1, weights[1].value()});
    TERN_ASSIGN(y, HybridProduct(n, rows, 1, n.OptionalReal(2), o.asymmetric_quantize_inputs()));
    if (rows != x) {
      Value* lead = n.b.Op("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{-1}}});
      y = n.b.Op("Reshape", {y, Joined(n.b, {lead, DimOf(n.b, n.In(1), 0)}, 0)});
    }
  } else {
    if (n.InfoIn(0).quantized) x = n.importer().Dequantize(x, n.InfoIn(0), 0, n.b);
    TERN_ASSIGN(Value * bias, QuantizedBias(n, 0, 1, 2));
    Value* w = n.InfoIn(1).quantized ? n.RealPermuted(1, {0, 1}) : n.In(1);
    y = n.b.Op("MatMul", {x, w, bias}, {{"transpose_b", true}});
  }
  n.OutReal(0, n.Activate(y, o.activation()));
  return {};
}

// If only the right operand is quantized, TensorFlow Lite also quantizes each row of the left one.
Status BatchMatMul(LiteNode& n) {
  const auto& o = n.Options<fb::BatchMatMulOptions>();
  Value* left = n.Real(0);
  if (IsHybrid(n, 0, 1) && left->type.shape.rank() >= 2) {
    // Every row of the last axis has its own scale.
    if (o.adj_x()) {
      std::vector<int64_t> perm;
      for (int i = 0; i < left->type.shape.rank(); ++i) perm.push_back(i);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      left = Transposed(n.b, left, perm);
    }
    const Dim& columns = left->type.shape[-1];
    if (!columns.known()) return n.NotYet("an operand of unknown size");
    Value* shape = ShapeOf(n.b, left);
    Value* rounded =
        RoundedRows(n.b, Reshaped(n.b, left, {-1, columns.value()}), o.asymmetric_quantize_inputs());
    left = n.b.Op("Reshape", {rounded, shape});
  }
  const bool transpose_a = o.adj_x() && !IsHybrid(n, 0, 1);
  n.OutReal(0,
            n.b.Op("MatMul", {left, n.Real(1)}, {{"transpose_a", transpose_a}, {"transpose_b", o.adj_y()}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(matmul) {
  table.Add("FULLY_CONNECTED", 2, FullyConnected);
  table.Add("BATCH_MATMUL", 2, BatchMatMul);
}

}  // namespace tern::tflite
