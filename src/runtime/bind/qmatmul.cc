// Binds QMatMul with a constant right matrix to the integer kernels.
#include "kernels/cpu/byte/byte_tile.h"
#include "kernels/cpu/support/blocking.h"
#include "runtime/bind/byte_bound.h"

namespace tern {
namespace {

const QuantizedForm& QMatMulForm() { return *QuantizedFormOf("QMatMul"); }

// The sizes of the right matrix, and its strides in elements.
struct RightMatrix {
  int64_t k, n, row, column;
};
RightMatrix RightMatrixOf(const Dims& dims, const Attrs& attrs) {
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  if (attrs.Bool("transpose_b")) return {columns, rows, 1, columns};
  return {rows, columns, columns, 1};
}

class PackedQMatMul : public KernelOf<PackedQMatMul> {
 public:
  static constexpr const char* kPack = "qmatmul.panels.i8";
  static bool Legal(const KernelQuery& q) { return WhyNot(q).empty(); }
  static std::string WhyNot(const KernelQuery& q) {
    if (q.InRank(0) < 1 || q.InRank(3) < 2) return "needs a matrix of weights";
    if (q.attrs().Bool("transpose_a") && q.InRank(0) > 1) return "needs contiguous rows of the left operand";
    const Dims& b = q.InDims(3);
    if (CountFrom(b, 0, b.size() - 2) != 1) return "needs one matrix of weights for the entire batch";
    const RightMatrix m = RightMatrixOf(b, q.attrs());
    return ByteBound::WhyNot(QMatMulForm(), q, m.row, m.column, m.k, m.n);
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const RightMatrix b = RightMatrixOf(q.InDims(3), q.attrs());
    const Dims& a = q.InDims(0);
    const int64_t m = CountFrom(a, 0, a.size() - 1);
    const auto bytes = [](DType type, const Dims& dims) {
      return static_cast<double>(BytesOf(type, static_cast<size_t>(CountOf(dims))));
    };
    Work work;
    work.algorithm = "panels_i8";
    const cpu::ByteTileTable& table = cpu::ByteTileSimd();
    work.products = table.Products(m, b.n, table.Dwords(b.k));
    work.weights = bytes(DType::kI8, q.InDims(3)) * table.element_bytes;
    work.moved = bytes(q.InType(0), a) + bytes(q.OutType(0), q.OutDims(0));
    if (q.Has(QMatMulForm().residual())) work.moved += bytes(q.OutType(0), q.OutDims(0));
    return {work};
  }

  Status Prepare(PrepareContext& c) override {
    const Tensor& w = *c.Weight(3);
    const RightMatrix b = RightMatrixOf(w.dims(), c.attrs());
    k_ = b.k, n_ = b.n;
    TERN_ASSIGN(
        packed_,
        c.Packed(ByteBound::PackedInputs(c), DType::kI8, {cpu::BytePackedSize(k_, n_)}, [&](Tensor& to) {
          cpu::PackBytes(ByteBound::Weights(c), b.row, b.column, k_, n_, to.data<int8_t>(), c.workers());
        }));
    return {};
  }
  Status Resize(ResizeContext& c) override {
    const Dims& a = c->InDims(0);
    p_ = {};
    p_.m = CountFrom(a, 0, a.size() - 1), p_.n = n_, p_.k = k_;
    p_.a_type = c->InType(0), p_.a_row = k_, p_.c_row = n_;
    const size_t bytes = cpu::Aligned(cpu::ByteGemmScratch(p_, c.threads()));
    c.SetScratch(bound_.Resize(c.query(), packed_.data<const int8_t>(), n_, bytes));
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::ByteGemm p = p_;
    p.a = c.In(0).raw(), p.panels = cpu::BytePanels(packed_.data<const int8_t>(), n_), p.c = c.Out(0).raw();
    p.epilogue = bound_.For(c);
    cpu::MultiplyBytes(p, c.scratch<void>(), c.workers());
    return {};
  }

 private:
  Tensor packed_;
  int64_t k_ = 0, n_ = 0;
  cpu::ByteGemm p_;
  ByteBound bound_{"QMatMul"};
};

}  // namespace

TERN_KERNELS(QMatMul) { table.Add<PackedQMatMul>("QMatMul", "cpu.qmatmul.packed.i8", PackedQMatMul::Legal); }

}  // namespace tern
