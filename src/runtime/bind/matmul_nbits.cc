// Binds MatMulNBits to the kernels for quantized weights.
#include "kernels/cpu/byte/byte_epilogue.h"
#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/nbits/dynamic.h"
#include "kernels/cpu/nbits/nbits.h"
#include "kernels/cpu/support/blocking.h"
#include "runtime/bind/epilogue.h"
#include "runtime/cost/cost_model.h"

namespace tern {
namespace {

// Inputs of MatMulNBits.
enum : int { kA, kB, kBias, kResidual, kWeightScale, kZero };

// Returns the layout of a node's weights. Depends on types, dims and attributes only.
cpu::NBitsLayout LayoutOf(const Attrs& attrs, const Dims& b, DType type, DType scale, bool has_zeros) {
  cpu::NBitsLayout l;
  const bool transposed = attrs.Bool("transpose_b");
  l.k = b[transposed ? 1 : 0], l.n = b[transposed ? 0 : 1];
  l.bits = BitWidth(type);
  l.block = attrs.Int("block_size");
  l.f16_scales = scale == DType::kF16;
  l.has_zeros = has_zeros;
  l.zero = IsSignedInt(type) ? 1 << (l.bits - 1) : 0;
  return l;
}

// Returns whether the bias has one element per column.
bool ColumnBias(const KernelQuery& q) {
  const Dims& bias = q.InDims(kBias);
  return !bias.empty() && CountOf(bias) == bias.back() && bias.back() == q.OutDims(0).back();
}

int64_t RowsOf(const KernelQuery& q) { return CountFrom(q.InDims(kA), 0, q.InDims(kA).size() - 1); }

// Returns the reason why no kernel can compute a node, or "".
std::string CommonWhyNot(const KernelQuery& q) {
  if (q.InType(kA) != DType::kF32) return "needs f32 rows";
  for (int i : {kB, kWeightScale, kZero})
    if (q.Has(i) && !q.IsWeight(i)) return "needs constant weights, scales and zero points";
  if (q.InType(kWeightScale) == DType::kF64) return "does not read scales of f64";
  if (q.InRank(kA) < 1) return "needs rows";
  return BoundEpilogue::Fits(q, kBias) && BoundEpilogue::Fits(q, kResidual)
             ? ""
             : "cannot add this bias or residual";
}

// The bias and the epilogue of a node.
class Terms {
 public:
  void Set(const KernelQuery& q) {
    column_bias_ = q.Has(kBias) && ColumnBias(q);
    epilogue_.Set(q, column_bias_ ? std::initializer_list<int>{kResidual}
                                  : std::initializer_list<int>{kBias, kResidual});
  }
  template <class Product> void Fill(RunContext& c, Product& p) {
    if (column_bias_) p.bias = c.In<float>(kBias);
    p.epilogue = epilogue_.For(c);
  }

 private:
  bool column_bias_ = false;
  BoundEpilogue epilogue_;
};

// Supports all types of weights, with or without zero points. For dynamic quantization, rounds the rows of
// `a` first.
class MatMulNBits : public KernelOf<MatMulNBits> {
 public:
  static constexpr const char* kPack = "matmul.nbits";
  static bool Legal(const KernelQuery& q) { return WhyNot(q).empty(); }
  static std::string WhyNot(const KernelQuery& q) {
    if (!cpu::NBitsLayout::BlockFits(q.attrs().Int("block_size")))
      return "needs blocks of 16 or of a multiple of 32 elements";
    return CommonWhyNot(q);
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const cpu::NBitsLayout l =
        LayoutOf(q.attrs(), q.InDims(kB), q.InType(kB), q.InType(kWeightScale), q.Has(kZero));
    const cpu::TileTable& table = cpu::TileFor(cpu::Operands::kF32);
    Work work;
    work.algorithm = "panels";
    work.products = cpu::TileProducts(table, RowsOf(q), l.n, l.k);
    work.weights = static_cast<double>(l.bytes());
    work.moved = 4 * static_cast<double>(CountOf(q.InDims(kA)) + CountOf(q.OutDims(0)));
    return {work};
  }

  Status Prepare(PrepareContext& c) override {
    const Tensor &b = *c.Weight(kB), &scale = *c.Weight(kWeightScale);
    layout_ = LayoutOf(c.attrs(), b.dims(), b.dtype(), scale.dtype(), c.Has(kZero));
    std::vector<int> inputs = {kB, kWeightScale};
    if (c.Has(kZero)) inputs.push_back(kZero);
    TERN_ASSIGN(packed_, c.Packed(inputs, DType::kU8, {layout_.bytes()}, [&](Tensor& to) {
      cpu::PackNBits(layout_, SourceOf(c), to.data<uint8_t>(), c.workers());
    }));
    return {};
  }

  Status Resize(ResizeContext& c) override {
    p_ = {};
    p_.layout = layout_;
    p_.m = RowsOf(c.query());
    terms_.Set(c.query());
    dynamic_ = c->attrs().Bool("dynamic");
    rounded_at_ = cpu::Aligned(cpu::NBitsScratch(p_, c.threads()));
    c.SetScratch(rounded_at_ + (dynamic_ ? static_cast<size_t>(p_.m * layout_.k) * sizeof(float) : 0));
    return {};
  }

  Status Run(RunContext& c) override {
    cpu::NBitsProduct p = p_;
    p.packed = packed_.data<const uint8_t>();
    p.a = c.In<float>(kA), p.c = c.Out<float>(0);
    if (dynamic_) {
      auto* rounded = reinterpret_cast<float*>(c.scratch<std::byte>() + rounded_at_);
      cpu::RoundRows(p.a, p.m, layout_.k, rounded, c.workers());
      p.a = rounded;
    }
    terms_.Fill(c, p);
    cpu::MultiplyNBits(p, c.scratch<void>(), c.workers());
    return {};
  }

 private:
  static cpu::NBitsSource SourceOf(const PrepareContext& c) {
    const Tensor &b = *c.Weight(kB), &scale = *c.Weight(kWeightScale);
    const bool transposed = c.attrs().Bool("transpose_b");
    cpu::NBitsSource s;
    s.q = b.data<const uint8_t>();
    s.is_signed = IsSignedInt(b.dtype());
    s.k_stride = transposed ? 1 : b.dim(1), s.n_stride = transposed ? b.dim(1) : 1;
    s.scale = scale.raw();
    s.scale_type = scale.dtype();
    if (c.attrs().Int("block_size") > 0)
      s.scale_k = transposed ? 1 : scale.dim(1), s.scale_n = transposed ? scale.dim(1) : 1;
    else
      s.scale_n = scale.size() == 1 ? 0 : 1;
    if (c.Has(kZero)) s.zero = c.Weight(kZero)->data<const uint8_t>();
    return s;
  }

  Tensor packed_;
  cpu::NBitsLayout layout_;
  cpu::NBitsProduct p_;
  bool dynamic_ = false;
  size_t rounded_at_ = 0;
  Terms terms_;
};

// Dynamic quantization with weights of i8 and one scale per column, or one for all: an integer product.
class DynamicMatMul : public KernelOf<DynamicMatMul> {
 public:
  static constexpr const char* kPack = "matmul.dynamic";
  static bool Legal(const KernelQuery& q) { return WhyNot(q).empty(); }
  static std::string WhyNot(const KernelQuery& q) {
    if (!q.attrs().Bool("dynamic")) return "rounds rows to 8 bits";
    if (q.InType(kB) != DType::kI8 || q.Has(kZero)) return "needs i8 weights without zero points";
    if (q.attrs().Int("block_size") != 0) return "needs one scale per column";
    if (q.InDims(kB)[q.attrs().Bool("transpose_b") ? 1 : 0] > cpu::kMaxByteDepth)
      return "sums of more than 65536 products may exceed 32 bits";
    return CommonWhyNot(q);
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    std::vector<Work> work = MatMulNBits::WorkOf(q);
    work[0].products /= 4;  // four products per lane and instruction
    return work;
  }

  Status Prepare(PrepareContext& c) override {
    const Tensor& b = *c.Weight(kB);
    const bool transposed = c.attrs().Bool("transpose_b");
    k_ = b.dim(transposed ? 1 : 0), n_ = b.dim(transposed ? 0 : 1);
    TERN_ASSIGN(packed_,
                c.Packed({kB, kWeightScale}, DType::kU8, {cpu::DynamicPackedSize(k_, n_)}, [&](Tensor& to) {
                  const Tensor& scale = *c.Weight(kWeightScale);
                  cpu::PackDynamic(b.data<const int8_t>(), transposed ? 1 : n_, transposed ? k_ : 1, k_, n_,
                                   to.data<uint8_t>(), c.workers());
                  float* scales = cpu::DynamicScales(to.data<uint8_t>(), k_, n_);
                  for (int64_t j = 0; j < n_; ++j)
                    scales[j] = static_cast<float>(LoadDouble(scale, scale.size() == 1 ? 0 : j));
                }));
    return {};
  }

  Status Resize(ResizeContext& c) override {
    p_ = {};
    p_.m = RowsOf(c.query()), p_.n = n_, p_.k = k_;
    terms_.Set(c.query());
    c.SetScratch(cpu::DynamicScratch(p_, c.threads()));
    return {};
  }

  Status Run(RunContext& c) override {
    cpu::DynamicProduct p = p_;
    p.packed = packed_.data<const uint8_t>();
    p.a = c.In<float>(kA), p.c = c.Out<float>(0);
    terms_.Fill(c, p);
    cpu::MultiplyDynamic(p, c.scratch<void>(), c.workers());
    return {};
  }

 private:
  Tensor packed_;
  int64_t k_ = 0, n_ = 0;
  cpu::DynamicProduct p_;
  Terms terms_;
};

}  // namespace

TERN_KERNELS(MatMulNBits) {
  table.Add<DynamicMatMul>("MatMulNBits", "cpu.nbits.dynamic", DynamicMatMul::Legal);
  table.Add<MatMulNBits>("MatMulNBits", "cpu.nbits", MatMulNBits::Legal);
}

}  // namespace tern
