#include "import/tflite/ops/recurrent.h"

#include "import/tflite/ops/hybrid.h"

namespace tern::tflite {

Value* StepsOf(LiteNode& n, int i, const Sequence& s) {
  Value* x = n.Real(i);
  if (s.single) return Unsqueezed(n.b, x, {0});
  return s.time_major ? x : Transposed(n.b, x, {1, 0, 2});
}

Value* FromSteps(Builder& b, Value* steps, const Sequence& s) {
  if (s.single) return Squeezed(b, steps, {0});
  return s.time_major ? steps : Transposed(b, steps, {1, 0, 2});
}

Value* Products::Times(Builder& b, Value* x, Value* weights) const {
  if (hybrid) {
    Value* shape = ShapeOf(b, x);
    const Shape& matrix = weights->type.shape;
    if (matrix.rank() == 2 && matrix[1].known() && x->type.shape.rank() != 2) {
      Value* rows = RoundedRows(b, Reshaped(b, x, {-1, matrix[1].value()}), asymmetric);
      x = b.Op("Reshape", {rows, shape});
    } else {
      x = RoundedRows(b, x, asymmetric);
    }
  }
  return b.Op("MatMul", {x, weights}, {{"transpose_b", true}});
}

Value* RoundedLike(Builder& b, GraphImporter& g, Value* v, const TensorInfo& info) {
  return info.quantized ? g.Dequantize(g.Quantize(v, info, b), info, 0, b) : v;
}

Value* RealBias(LiteNode& n, int i) {
  const TensorInfo& info = n.InfoIn(i);
  if (info.dtype != DType::kI32 || info.quant.scales.empty()) return n.Real(i);
  return n.importer().Dequantize(n.In(i), info, 0, n.b);
}

}  // namespace tern::tflite
