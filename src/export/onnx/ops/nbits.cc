// Exports matrix products with quantized weights. ONNX has no such operator. With com.microsoft operators,
// emits MatMulNBits. Otherwise emits DequantizeLinear and MatMul, so that the weights in the file are still
// quantized.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

enum : int { kA, kB, kBias, kResidual, kScale, kZero };  // inputs of MatMulNBits

// Emits the weights as floats, [k, n].
std::string RealWeights(TernNode& n, DType type) {
  const Attrs& a = n.attrs();
  const int64_t block = a.Int("block_size");
  const bool transposed = a.Bool("transpose_b");
  AttrList attrs = {{"axis", int64_t{(block > 0) == transposed ? 1 : 0}}};
  if (block > 0) attrs.emplace_back("block_size", block);
  const std::string w =
      n.Op("DequantizeLinear",
           {n.In(kB), CastName(n, n.In(kScale), n.TypeOf(kScale).dtype, type), n.In(kZero)}, attrs);
  return transposed ? n.Op("Transpose", {w}, {{"perm", std::vector<int64_t>{1, 0}}}) : w;
}

struct RoundedRows {
  std::string rows, scale;  // f32 [m, k] of integers, f32 [m, 1]
};

// Emits the rounding of dynamic quantization (ops/matmul/row_rounding.h).
RoundedRows Round(TernNode& n) {
  const std::string size = n.Op("ReduceMax", {n.Op("Abs", {n.In(kA)}), n.Ints({-1})});
  const std::string largest = n.Op("Max", {size, n.Scalar(DType::kF32, 1e-30)});
  const std::string inverse = n.Op("Div", {n.Scalar(DType::kF32, 127), largest});
  return {n.Op("Round", {n.Op("Mul", {n.In(kA), inverse})}),
          n.Op("Div", {largest, n.Scalar(DType::kF32, 127)})};
}

// Returns whether the product of rounded rows can be a MatMulInteger.
bool IntegerWeights(const TernNode& n) {
  return n.TypeOf(kB).dtype == DType::kI8 && n.attrs().Int("block_size") == 0 && !n.Has(kZero);
}

// Emits, as `out`, the product of rows that are rounded to 8 bits.
void DynamicProduct(TernNode& n, const std::string& out) {
  const RoundedRows a = Round(n);
  if (!IntegerWeights(n)) {
    n.Emit("MatMul", {n.Op("Mul", {a.rows, a.scale}), RealWeights(n, DType::kF32)}, {out});
    return;
  }
  const std::string b = n.attrs().Bool("transpose_b")
                            ? n.Op("Transpose", {n.In(kB)}, {{"perm", std::vector<int64_t>{1, 0}}})
                            : n.In(kB);
  const std::string sums = n.Op("MatMulInteger", {n.Op("Cast", {a.rows}, {{"to", DType::kI8}}), b});
  const std::string scale = CastName(n, n.In(kScale), n.TypeOf(kScale).dtype, DType::kF32);
  n.Emit("Mul", {n.Op("Mul", {n.Op("Cast", {sums}, {{"to", DType::kF32}}), a.scale}), scale}, {out});
}

// Returns a matrix in the form that MatMulNBits reads: bytes with one row per output column. Every row is
// padded to a multiple of the block size, and signed elements become unsigned.
Tensor PackedRows(const Tensor& b, bool transposed, int64_t per_row) {
  const int64_t columns = b.dim(transposed ? 0 : 1), depth = b.dim(transposed ? 1 : 0);
  const int bits = BitWidth(b.dtype());
  const int64_t offset = IsSignedInt(b.dtype()) ? int64_t{1} << (bits - 1) : 0,
                width = (per_row * bits + 7) / 8;
  Tensor bytes(DType::kU8, {columns, width});
  Tensor rows =
      Tensor::View(bytes.buffer(), bits == 4 ? DType::kU4 : DType::kU8, {columns, width * 8 / bits});
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < depth; ++i)
      StoreLong(rows, j * rows.dim(1) + i,
                LoadLong(b, transposed ? j * depth + i : i * columns + j) + offset);
  return bytes;
}

// Returns whether MatMulNBits of com.microsoft supports the node.
bool TakenByContrib(const TernNode& n) {
  const int64_t block = n.attrs().Int("block_size");
  if (block < 16 || (block & (block - 1)) || n.attrs().Bool("dynamic")) return false;
  for (int i : {kB, kScale, kZero})
    if (n.Has(i) && !n.node.input(i)->is_constant()) return false;
  return n.TypeOf(kA).dtype == DType::kF32 && (!n.Has(kBias) || n.TypeOf(kBias).shape.rank() == 1);
}

// Returns the scales as a constant [n, blocks].
std::string ScalesByRow(TernNode& n, bool transposed) {
  const Tensor& scale = n.node.input(kScale)->constant;
  const int64_t columns = scale.dim(transposed ? 0 : 1), blocks = scale.dim(transposed ? 1 : 0);
  Tensor rows(DType::kF32, {columns, blocks});
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < blocks; ++i)
      StoreDouble(rows, j * blocks + i, LoadDouble(scale, transposed ? j * blocks + i : i * columns + j));
  return n.Const(rows);
}

void ContribProduct(TernNode& n, const std::string& out) {
  const Tensor& b = n.node.input(kB)->constant;
  const bool transposed = n.attrs().Bool("transpose_b");
  const int64_t k = b.dim(transposed ? 1 : 0), columns = b.dim(transposed ? 0 : 1),
                block = n.attrs().Int("block_size"), blocks = (k + block - 1) / block;
  const int64_t bits = BitWidth(b.dtype());
  const Tensor rows = PackedRows(b.Contiguous(), transposed, blocks * block);
  std::string zero;
  if (n.Has(kZero))
    zero = n.Const(PackedRows(n.node.input(kZero)->constant.Contiguous(), transposed, blocks));
  else if (!IsSignedInt(b.dtype()))
    zero = n.Const(Tensor(DType::kU8, {columns, (blocks * bits + 7) / 8}));
  n.Emit("MatMulNBits",
         {n.In(kA), n.Const(rows.Reshaped({columns, blocks, block * bits / 8})), ScalesByRow(n, transposed),
          zero, "", n.In(kBias)},
         {out}, {{"K", k}, {"N", columns}, {"bits", bits}, {"block_size", block}}, kContrib);
}

// Emits the product and the bias as `out`.
void EmitNBitsSums(TernNode& n, const std::string& out) {
  if (n.Contrib(n.TypeOf(kA).dtype) && TakenByContrib(n)) return ContribProduct(n, out);
  const std::string product = n.Has(kBias) ? n.Temp() : out;
  if (n.attrs().Bool("dynamic"))
    DynamicProduct(n, product);
  else
    n.Emit("MatMul", {n.In(kA), RealWeights(n, n.TypeOf(kA).dtype)}, {product});
  if (n.Has(kBias)) n.Emit("Add", {product, n.In(kBias)}, {out});
}

Status MatMulNBits(TernNode& n) {
  const std::string sums = SumsOf(n);
  EmitNBitsSums(n, sums);
  EmitEpilogue(n, sums);
  return {};
}

}  // namespace

TERN_EXPORTERS(nbits) { table.Add("MatMulNBits", MatMulNBits); }

}  // namespace tern::onnx
