// Converts operators of com.microsoft whose weights have 2, 4 or 8 bits and one scale per block.
#include <algorithm>

#include "import/onnx/ops/emit.h"

namespace tern::onnx {
namespace {

Result<DType> UnsignedOf(const OnnxNode& n, int64_t bits) {
  if (bits == 2) return DType::kU2;
  if (bits == 4) return DType::kU4;
  if (bits == 8) return DType::kU8;
  return n.NotYet("weights of ", bits, " bits");
}

// Returns a view of the bytes as elements of `type`, which has at most 8 bits. u8[3,4] viewed as u4 is [3,8].
// ONNX and Tern pack sub-byte elements in the same order, lowest bits first.
Tensor Unpacked(const Tensor& bytes, DType type) {
  Dims dims = bytes.dims();
  dims.back() *= 8 / BitWidth(type);
  return Tensor::View(bytes.Contiguous().buffer(), type, dims);
}

// Unpacks `rows` rows of elements to [rows, columns]. In `bytes`, each row is padded to a full byte.
Tensor PackedRows(const Tensor& bytes, DType type, int64_t rows, int64_t columns) {
  const int64_t width = rows ? bytes.size() / rows : 0;
  const Tensor all = Unpacked(bytes.Contiguous().Reshaped({rows, width}), type);
  Tensor out(type, {rows, columns});
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) StoreLong(out, r * columns + c, LoadLong(all, r * all.dim(1) + c));
  return out;
}

Tensor Filled(DType type, const Dims& dims, int64_t value) {
  Tensor t(type, dims);
  for (int64_t i = 0; i < t.size(); ++i) StoreLong(t, i, value);
  return t;
}

// The attributes of MatMulNBits. The weight is [n, k], with `blocks` blocks of `block` elements per row.
struct NBits {
  int64_t k = 0, n = 0, bits = 4, block = 0, blocks = 0;
  DType type = DType::kU4;
};

Result<NBits> Layout(const OnnxNode& n) {
  NBits l;
  l.k = n.Int("K");
  l.n = n.Int("N");
  l.bits = n.Int("bits", 4);
  l.block = n.Int("block_size");
  TERN_ASSIGN(l.type, UnsignedOf(n, l.bits));
  if (l.k < 1 || l.n < 1 || l.block < 1 || std::max({l.k, l.n, l.block}) > INT32_MAX)
    return n.Bad("K, N and block_size must be 1 to ", INT32_MAX, ", got ", l.k, ", ", l.n, " and ", l.block);
  if (l.block * l.bits % 8)
    return n.Bad("a block of ", l.block, " numbers of ", l.bits, " bits is not a multiple of 8 bits");
  l.blocks = (l.k - 1) / l.block + 1;
  const Tensor* b = n.Constant(1);
  if (!b) return n.NotYet("a weight that is not a constant");
  if (b->dtype() != DType::kU8 || b->size() / l.n / l.blocks != l.block * l.bits / 8 ||
      b->size() % (l.n * l.blocks))
    return n.Bad("the weight ", b->Describe(), " is not [", l.n, ",", l.blocks, ",", l.block * l.bits / 8,
                 "] bytes");
  return l;
}

// Returns the zero points [n, blocks], of the weight's type. If input 3 is present, they are its unpacked
// elements. If input 3 is absent, each zero point is the middle of the type's range, such as 8 for u4.
Result<Value*> ZeroPoints(OnnxNode& n, const NBits& l) {
  if (!n.Has(3)) return n.b.Const(Filled(l.type, {l.n, l.blocks}, int64_t{1} << (l.bits - 1)));
  const Tensor* z = n.Constant(3);
  if (!z) return n.NotYet("zero points that are not constant");
  if (z->dtype() != DType::kU8) return n.Bad("zero points ", z->Describe(), " must be bytes");
  const int64_t width = (l.blocks * l.bits + 7) / 8;
  if (z->size() != l.n * width)
    return n.Bad("zero points ", z->Describe(), " are not [", l.n, ",", width, "] bytes");
  return n.b.Const(PackedRows(*z, l.type, l.n, l.blocks));
}

// Subtracts zero points that are floats. `w` is already multiplied by `scale`, so the function subtracts
// zeros * scale.
Value* SubtractFloatZeros(Emit& e, Value* w, Value* scale, Value* zeros, const NBits& l) {
  Value* shift = e.Mul(e.Reshape(e.Cast(zeros, scale->type.dtype), {l.n, l.blocks}), scale);
  Value* blocked = e.Sub(e.Reshape(w, {l.n, l.blocks, l.block}), e.Unsqueeze(shift, {2}));
  return e.Reshape(blocked, {l.n, l.blocks * l.block});
}

// Dequantizes weights with the input g_idx. Column j uses the scale and zero point of block groups[j].
Value* ByGroup(Emit& e, Value* w, Value* scale, Value* zeros, Value* groups, const NBits& l) {
  Value* picks = e.Slice(groups, e.b.Ints({0}), e.b.Ints({l.k}), 0);
  Value* real = e.Cast(w, scale->type.dtype);
  real = e.Slice(real, e.b.Ints({0}), e.b.Ints({l.k}), 1);
  Value* shift = e.Gather(e.Cast(zeros, scale->type.dtype), picks, 1);
  return e.Mul(e.Sub(real, shift), e.Gather(scale, picks, 1));
}

Status MatMulNBits(OnnxNode& n) {
  for (int i : {0, 2}) TERN_TRY(Require(n, i, kFloats));
  if (n.Int("weight_prepacked")) return n.NotYet("a weight packed for another device");
  TERN_ASSIGN(const NBits l, Layout(n));
  Emit e(n);
  Value* scale = e.Reshape(n.In(2), {l.n, l.blocks});
  const Tensor bytes = n.Constant(1)->Contiguous().Reshaped({l.n, l.blocks * l.block * l.bits / 8});
  const bool padded = l.blocks * l.block != l.k, plain = !n.Has(4) && !(n.Has(3) && IsFloat(n.TypeOf(3)));
  Value* packed = n.b.Const(padded && plain ? PackedRows(bytes, l.type, l.n, l.k) : Unpacked(bytes, l.type));
  const bool real_zeros = n.Has(3) && IsFloat(n.TypeOf(3));
  Value* zeros = nullptr;
  if (real_zeros) {
    zeros = e.Reshape(n.In(3), {l.n, l.blocks});
  } else {
    TERN_ASSIGN(zeros, ZeroPoints(n, l));
  }
  Value* w = nullptr;
  if (n.Has(4)) {
    w = ByGroup(e, packed, scale, zeros, n.In(4), l);
  } else {
    w = n.b.Op("Dequantize", {packed, scale, real_zeros ? nullptr : zeros},
               {{"axis", int64_t{1}}, {"block_size", l.block}});
    if (real_zeros) w = SubtractFloatZeros(e, w, scale, zeros, l);
    if (padded && !plain) w = e.Slice(w, n.b.Ints({0}), n.b.Ints({l.k}), 1);
  }
  Value* y = n.b.Op("MatMul", {n.In(0), w, n.In(5)}, {{"transpose_b", true}});
  n.Out(0, y);
  return {};
}

// Gathers first and dequantizes only the gathered rows. This is not possible if the gathered axis is the axis
// of the blocks, or if the rank of the indices is unknown. In these cases, dequantizes the entire table
// first.
Status GatherBlockQuantized(OnnxNode& n) {
  TERN_TRY(Require(n, 1, kIndices));
  TERN_TRY(Require(n, 2, kFloats));
  const Tensor* table = n.Constant(0);
  if (!table || table->rank() < 1) return n.NotYet("a table that is not a constant");
  if (IsFloat(table->dtype())) return n.NotYet("a table of ", DTypeName(table->dtype()));
  Emit e(n);
  Tensor data = *table;
  Value* zeros = n.In(3);
  if (data.dtype() == DType::kU8) {
    const int64_t bits = n.Int("bits", 4);
    TERN_ASSIGN(const DType type, UnsignedOf(n, bits));
    data = Unpacked(data, type);
    const Tensor* scales = n.Constant(2);
    if (!scales || scales->rank() != data.rank())
      return n.NotYet("scales that are not a constant of rank ", data.rank());
    const int64_t columns = scales->dim(-1), rows = columns ? scales->size() / columns : 0;
    Tensor zero = Filled(type, scales->dims(), int64_t{1} << (bits - 1));
    if (zeros) {
      if (!n.Constant(3)) return n.NotYet("zero points that are not constant");
      if (n.Constant(3)->dtype() != DType::kU8 || n.Constant(3)->size() != rows * ((columns * bits + 7) / 8))
        return n.Bad("zero points ", n.Constant(3)->Describe(), " do not match scales ", scales->Describe());
      zero = PackedRows(*n.Constant(3), type, rows, columns).Reshaped(scales->dims());
    }
    zeros = n.b.Const(std::move(zero));
  }
  const int rank = data.rank();
  TERN_ASSIGN(const int gather, NormalizeAxis(n.Int("gather_axis"), rank));
  TERN_ASSIGN(const int quantize, NormalizeAxis(n.Int("quantize_axis", 1), rank));
  const int64_t block = n.Int("block_size", 128);
  if (block < 1) return n.NotYet("block_size ", block);
  Value *x = n.b.Const(std::move(data)), *scale = n.In(2), *picks = n.In(1);
  int64_t axis = quantize;
  const bool rows_first = gather != quantize && n.RankOf(1) >= 0;
  if (rows_first) {
    x = e.Gather(x, picks, gather);
    scale = e.Gather(scale, picks, gather);
    if (zeros) zeros = e.Gather(zeros, picks, gather);
    if (quantize > gather) axis += n.RankOf(1) - 1;
  }
  Value* y = n.b.Op("Dequantize", {x, scale, zeros}, {{"axis", axis}, {"block_size", block}});
  n.Out(0, rows_first ? y : e.Gather(y, picks, gather));
  return {};
}

constexpr double kFp4[] = {0,    0.0052083333,  0.66666667,  1,  0.33333333,  0.5,  0.16666667,  0.25,
                           -0.0, -0.0052083333, -0.66666667, -1, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double kNf4[] = {-1.0,
                           -0.6961928009986877,
                           -0.5250730514526367,
                           -0.39491748809814453,
                           -0.28444138169288635,
                           -0.18477343022823334,
                           -0.09105003625154495,
                           0.0,
                           0.07958029955625534,
                           0.16093020141124725,
                           0.24611230194568634,
                           0.33791524171829224,
                           0.44070982933044434,
                           0.5626170039176941,
                           0.7229568362236023,
                           1.0};

// The weights are 4-bit indices into a table of 16 values. The high nibble of a byte is the first index. A
// block of weights with one scale may extend over several rows.
Status MatMulBnb4(OnnxNode& n) {
  for (int i : {0, 2}) TERN_TRY(Require(n, i, kFloats));
  const int64_t k = n.Int("K"), columns = n.Int("N"), kind = n.Int("quant_type");
  int64_t block = n.Int("block_size");
  const Tensor* packed = n.Constant(1);
  if (!packed) return n.NotYet("a weight that is not a constant");
  if (k < 1 || columns < 1 || block < 1 || (kind != 0 && kind != 1) || std::max(k, columns) > INT32_MAX)
    return n.Bad("K and N must be 1 to ", INT32_MAX, ", block_size at least 1 and quant_type 0 or 1, got ", k,
                 ", ", columns, ", ", block, " and ", kind);
  if (packed->dtype() != DType::kU8 || packed->size() / columns < k / 2 ||
      packed->size() < (k * columns + 1) / 2)
    return n.Bad("the weight ", packed->Describe(), " is too small for ", columns, " by ", k);
  const int64_t count = k * columns;
  block = std::min(block, count);
  Tensor codes(DType::kI32, {(count - 1) / block + 1, block});
  const Tensor bytes = packed->Contiguous();
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t byte = bytes.data<uint8_t>()[i / 2];
    codes.data<int32_t>()[i] = i % 2 ? byte & 15 : byte >> 4;
  }
  Emit e(n);
  const double* list = kind ? kNf4 : kFp4;
  Value* table = n.b.Const(Tensor::Of(n.TypeOf(2), {16}, std::vector<double>(list, list + 16)));
  Value* w = e.Mul(e.Gather(table, n.b.Const(std::move(codes))), e.Reshape(n.In(2), {-1, 1}));
  w = e.Slice(e.Reshape(w, {-1}), n.b.Ints({0}), n.b.Ints({count}), 0);
  n.Out(0, n.b.Op("MatMul", {n.In(0), e.Cast(e.Reshape(w, {columns, k}), n.TypeOf(0))},
                  {{"transpose_b", true}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(ms_blocks) {
  table.Add("MatMulNBits", MatMulNBits, kMicrosoft);
  table.Add("MatMulBnb4", MatMulBnb4, kMicrosoft);
  table.Add("GatherBlockQuantized", GatherBlockQuantized, kMicrosoft);
}

}  // namespace tern::onnx
