// Binds MatMul to the matrix product kernels.
#include <algorithm>
#include <span>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/gemm/strassen.h"
#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/move/copy.h"
#include "runtime/bind/conv_work.h"
#include "runtime/bind/strassen_cost.h"
#include "runtime/bind/tile_epilogue.h"
#include "runtime/cost/cost_model.h"

namespace tern {
namespace {

using BatchDims = std::span<const int64_t>;

// Sets `at` to the offsets at which the operand contains the matrices of the batch. `matrix` is the number of
// elements of one matrix. Axes of size 1 in `operand` are broadcast.
void SetOffsets(BatchDims operand, BatchDims batch, int64_t matrix, std::vector<int64_t>& at) {
  const size_t lead = batch.size() - operand.size();
  at.assign(1, 0);
  int64_t step = matrix;
  // The loop goes from the innermost axis outwards. Each axis repeats the offsets of the axes inside it.
  for (size_t i = batch.size(); i-- > 0;) {
    const int64_t size = i >= lead ? operand[i - lead] : 1, n = static_cast<int64_t>(at.size());
    for (int64_t j = 1; j < batch[i]; ++j)
      for (int64_t k = 0; k < n; ++k) at.push_back(at[static_cast<size_t>(k)] + (size == 1 ? 0 : j * step));
    if (batch[i] == 0) at.clear();
    step *= size;
  }
}

// An operand as a batch of matrices. A vector is one row as the left operand and one column as the right
// operand. The struct refers to dims that it does not own.
struct Operand {
  BatchDims batch;
  int64_t rows = 1, columns = 1;
  bool vector = false;
};

Operand OperandOf(const Dims& dims, bool transpose, bool left) {
  if (dims.size() == 1) return {{}, left ? 1 : dims[0], left ? dims[0] : 1, true};
  const int64_t r = dims[dims.size() - 2], c = dims.back();
  return {BatchDims(dims.data(), dims.size() - 2), transpose ? c : r, transpose ? r : c, false};
}

// Returns the work of all products of a batch. If all products have the same b, they count as one product
// with all rows of a.
Work ProductWork(const char* algorithm, const KernelQuery& q, cpu::Operands operands) {
  const auto to_double = [](int64_t n) { return static_cast<double>(n); };
  const Operand a = OperandOf(q.InDims(0), q.attrs().Bool("transpose_a"), true),
                b = OperandOf(q.InDims(1), q.attrs().Bool("transpose_b"), false);
  const int64_t matrix_size = a.rows * b.columns, total = CountOf(q.OutDims(0));
  const int64_t count = matrix_size > 0 ? total / matrix_size : 0;
  const bool tall = CountIn(b.batch) == 1;
  const cpu::TileTable& table = cpu::TileFor(operands);
  Work work;
  work.algorithm = algorithm;
  work.products = (tall ? 1 : to_double(count)) * cpu::TileProducts(table, tall ? count * a.rows : a.rows,
                                                                    b.columns, table.dwords(a.columns));
  const double elements = to_double(CountOf(q.InDims(1)));
  work.weights = elements * (operands == cpu::Operands::kBf16 ? 2 : 4);
  work.moved = 4 * (to_double(CountOf(q.InDims(0))) + to_double(total));
  work.transformed = operands == cpu::Operands::kBf16 ? to_double(CountOf(q.InDims(0))) : elements;
  return work;
}

class MatMul : public KernelOf<MatMul> {
 public:
  static bool Legal(const KernelQuery& q) {
    if (!cpu::GemmTypes(q.InType(0), q.InType(1), q.OutType(0))) return false;
    if (!IsFloat(q.OutType(0)) && q.attrs().Float("alpha") != 1) return false;
    return BoundEpilogue::Fits(q, 2) && BoundEpilogue::Fits(q, 3);
  }

  static std::string WhyNot(const KernelQuery& q) {
    if (!cpu::GemmTypes(q.InType(0), q.InType(1), q.OutType(0))) return "does not multiply these types";
    if (!IsFloat(q.OutType(0)) && q.attrs().Float("alpha") != 1) return "integers need alpha 1";
    return "cannot add this bias or residual";
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    return {ProductWork("product", q, cpu::Operands::kF32)};
  }

  Status Resize(ResizeContext& c) override {
    const bool ta = c->attrs().Bool("transpose_a"), tb = c->attrs().Bool("transpose_b");
    Operand a = OperandOf(c->InDims(0), ta, true), b = OperandOf(c->InDims(1), tb, false);
    const bool transposed_a = ta && !a.vector, transposed_b = tb && !b.vector;
    p_ = {};
    p_.m = a.rows, p_.n = b.columns, p_.k = a.columns;
    p_.a = {nullptr, c->InType(0), transposed_a ? 1 : p_.k, transposed_a ? p_.m : 1};
    p_.b = {nullptr, c->InType(1), transposed_b ? 1 : p_.n, transposed_b ? p_.k : 1};
    p_.c_type = c->OutType(0);
    p_.c_row = p_.n;
    p_.alpha = c->attrs().Float("alpha");
    const Dims& y = c->OutDims(0);
    const BatchDims batch(y.data(), y.size() - !a.vector - !b.vector);
    column_bias_ = c->Has(2) && ColumnBias(c.query());
    epilogue_.Set(c.query(), column_bias_ ? std::initializer_list<int>{3} : std::initializer_list<int>{2, 3});
    a_at_.clear();
    if (CountIn(b.batch) == 1 && std::ranges::equal(a.batch, batch) && !transposed_a) {
      p_.m *= CountIn(batch);  // all products have the same b, so the batch is one product with all rows of a
    } else {
      SetBatch(a, b, batch);
    }
    c.SetScratch(cpu::GemmScratch(p_, c.threads()));
    return {};
  }

  Status Run(RunContext& c) override {
    cpu::GemmParams p = p_;
    p.a.data = c.In(0).raw(), p.b.data = c.In(1).raw(), p.c = c.Out(0).raw();
    if (p.count > 1 || !a_at_.empty()) p.a_at = a_at_.data(), p.b_at = b_at_.data(), p.c_at = c_at_.data();
    if (column_bias_) p.column_bias = c.In(2).raw();
    p.epilogue = epilogue_.For(c);
    cpu::Gemm(p, c.scratch<void>(), c.workers());
    return {};
  }

 private:
  static bool ColumnBias(const KernelQuery& q) {
    const Dims& bias = q.InDims(2);
    if (q.InRank(1) == 1) return false;  // b is a vector, so the result has no column axis
    return !bias.empty() && CountOf(bias) == bias.back() && bias.back() == q.OutDims(0).back();
  }

  void SetBatch(const Operand& a, const Operand& b, BatchDims batch) {
    p_.count = CountIn(batch);
    SetOffsets(a.batch, batch, p_.m * p_.k, a_at_);
    SetOffsets(b.batch, batch, p_.k * p_.n, b_at_);
    c_at_.clear();
    for (int64_t i = 0; i < p_.count; ++i) c_at_.push_back(i * p_.m * p_.n);
  }

  cpu::GemmParams p_;
  bool column_bias_ = false;
  BoundEpilogue epilogue_;
  std::vector<int64_t> a_at_, b_at_, c_at_;
};

// Returns whether all dims but the last two are 1.
bool OneMatrix(const Dims& dims) { return CountFrom(dims, 0, dims.size() - 2) == 1; }

// A strategy of PackedMatMul. It defines how weights are packed and multiplied.
template <cpu::Operands kOf> struct Panels {
  static constexpr cpu::Operands kOperands = kOf;
  static int64_t Size(int64_t k, int64_t n) { return cpu::PanelsSize(k, n, kOf); }
  static void Pack(const cpu::PanelSource& b, int64_t k, int64_t n, float* to, const Workers& workers) {
    cpu::PackPanels(b, k, n, to, workers, kOf);
  }
  static constexpr auto Scratch = cpu::PanelScratch;
  static constexpr auto Multiply = cpu::MultiplyPanels;
};
struct Strassen : Panels<cpu::Operands::kF32> {
  static constexpr auto Scratch = cpu::StrassenScratch;
  static constexpr auto Multiply = cpu::MultiplyStrassen;
  static constexpr auto Fits = cpu::StrassenBalanced;  // MultiplyPanels multiplies weights that do not fit
};

// The right operand is one matrix of weights, which is packed once. The left operand has any number of rows.
template <class Strategy> class PackedMatMul : public KernelOf<PackedMatMul<Strategy>> {
 public:
  static constexpr cpu::Operands kOperands = Strategy::kOperands;
  static constexpr const char* kPack =
      kOperands == cpu::Operands::kBf16 ? "matmul.panels.bf16" : "matmul.panels.f32";
  static bool Legal(const KernelQuery& q) { return WhyNot(q).empty(); }
  static std::string WhyNot(const KernelQuery& q) {
    constexpr bool kBf16 = kOperands == cpu::Operands::kBf16;
    if (!q.AllTypes(DType::kF32)) return "needs f32 throughout";
    if (!q.IsWeight(1)) return "needs constant weights on the right";
    if (q.InRank(0) < 1 || q.InRank(1) < 2) return "needs a matrix of weights";
    if (kBf16 && !q.bf16) return "precision is fp32";
    if (kBf16 && q.exact_integers) return "sums of integers must be exact";
    if (kBf16 && !PaysInBf16(q)) return "rounding would take more time than bf16 saves";
    if (!OneMatrix(q.InDims(1))) return "needs one matrix of weights for the entire batch";
    return BoundEpilogue::Fits(q, 2) && BoundEpilogue::Fits(q, 3) ? "" : "cannot add this bias or residual";
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    Work work = ProductWork(kOperands == cpu::Operands::kBf16 ? "panels_bf16" : "panels", q, kOperands);
    if (kOperands == cpu::Operands::kF32) work.transformed = 0;
    return {work};
  }

  Status Prepare(PrepareContext& c) override {
    const Tensor& w = *c.Weight(1);
    const bool transposed = c.attrs().Bool("transpose_b");
    const Operand b = OperandOf(w.dims(), transposed, false);
    k_ = b.rows, n_ = b.columns;
    const cpu::PanelSource source{w.data<const float>(), transposed ? 1 : n_, transposed ? k_ : 1,
                                  c.attrs().Float("alpha")};
    TERN_ASSIGN(panels_, c.Packed({1}, DType::kF32, {Strategy::Size(k_, n_)}, [&](Tensor& to) {
      Strategy::Pack(source, k_, n_, to.data<float>(), c.workers());
    }));
    if constexpr (requires { Strategy::Fits; }) plain_ = !Strategy::Fits(panels_.data<const float>(), k_, n_);
    return {};
  }

  Status Resize(ResizeContext& c) override {
    const Dims& a = c->InDims(0);
    const bool transposed = c->attrs().Bool("transpose_a") && a.size() > 1;
    p_ = {};
    p_.operands = kOperands;
    p_.k = k_, p_.n = n_;
    p_.m = transposed ? CountFrom(a, 0, a.size() - 2) * a.back() : CountFrom(a, 0, a.size() - 1);
    p_.a_row = k_, p_.a_column = 1;
    transposed_ = {};
    if (transposed && OneMatrix(a)) {
      p_.a_row = 1, p_.a_column = p_.m;
    } else if (transposed) {
      transposed_.Add({CountFrom(a, 0, a.size() - 2), k_ * a.back(), k_ * a.back()});
      transposed_.Add({a.back(), 1, k_});
      transposed_.Add({k_, a.back(), 1});
    }
    p_.c_row = n_;
    const Dims& y = c->OutDims(0);
    bias_ = c->Has(2) && c->InDims(2).size() <= y.size() && !c->InDims(2).empty() &&
            c->InDims(2).back() == n_ && CountOf(c->InDims(2)) == n_;
    tile_.Set(c.query(), bias_ ? std::initializer_list<int>{3} : std::initializer_list<int>{2, 3});
    transposed_at_ = ((plain_ ? cpu::PanelScratch : Strategy::Scratch)(p_, c.threads()) + 63) / 64 * 64;
    c.SetScratch(transposed_at_ + (transposed_.rank ? static_cast<size_t>(p_.m * k_) * sizeof(float) : 0));
    return {};
  }

  Status Run(RunContext& c) override {
    cpu::PanelProduct p = p_;
    p.a = c.In<float>(0);
    if (transposed_.rank) {
      auto* rows = reinterpret_cast<float*>(c.scratch<std::byte>() + transposed_at_);
      cpu::Copy(transposed_, p.a, rows, sizeof(float), c.workers());
      p.a = rows;
    }
    p.panels = panels_.data<const float>(), p.c = c.Out<float>(0);
    tile_.Fill(c, p);
    if (bias_) p.tile.bias = c.In<float>(2);
    (plain_ ? cpu::MultiplyPanels : Strategy::Multiply)(p, c.scratch<void>(), c.workers());
    return {};
  }

 private:
  // Returns whether bf16 saves more time than rounding the rows of `a` takes. Returns false if `b` has few
  // columns or the rows of `a` are short.
  static bool PaysInBf16(const KernelQuery& q) {
    const Dims& b = q.InDims(1);
    const int64_t rows = b[b.size() - 2], columns = b.back();
    const bool transposed = q.attrs().Bool("transpose_b");
    return (transposed ? columns : rows) >= 32 && (transposed ? rows : columns) >= 16;
  }

  Tensor panels_;  // dwords: f32, or pairs of bf16
  int64_t k_ = 0, n_ = 0;
  bool plain_ = false;  // Strategy::Fits is false for these weights
  cpu::PanelProduct p_;
  cpu::StridedCopy transposed_;  // transposes the matrices of the left operand, for transpose_a
  size_t transposed_at_ = 0;
  bool bias_ = false;
  TileBound tile_;
};

using F32 = PackedMatMul<Panels<cpu::Operands::kF32>>;
using Bf16 = PackedMatMul<Panels<cpu::Operands::kBf16>>;

std::string StrassenWhyNot(const KernelQuery& q) {
  if (q.exact_integers) return "sums of integers must be exact";
  if (std::string why = F32::WhyNot(q); !why.empty()) return why;
  if (q.attrs().Bool("transpose_a") && q.InRank(0) > 1) return "needs contiguous rows of the left operand";
  const Operand b = OperandOf(q.InDims(1), q.attrs().Bool("transpose_b"), false);
  return cpu::StrassenFits(b.rows, b.columns)
             ? ""
             : "needs an even k, and halves of b that consist of entire panels";
}
bool StrassenLegal(const KernelQuery& q) { return StrassenWhyNot(q).empty(); }

// Returns the estimated time of the plain product, multiplied by StrassenCost.
double StrassenMicroseconds(const KernelQuery& q) {
  const Operand b = OperandOf(q.InDims(1), q.attrs().Bool("transpose_b"), false);
  const int64_t rows = CountFrom(q.InDims(0), 0, q.InDims(0).size() - 1);
  double plain = 0;
  for (const Work& work : F32::WorkOf(q)) plain += CpuRates().Microseconds(work);
  return plain * StrassenCost(rows, b.columns, b.rows);
}

KernelEntry StrassenEntry(const char* name) {
  KernelEntry entry = EntryOf<PackedMatMul<Strassen>>("MatMul", name, StrassenLegal);
  entry.can.why_not = StrassenWhyNot;
  entry.can.work_of = nullptr;
  entry.can.cost_of = StrassenMicroseconds;
  return entry;
}

}  // namespace

TERN_KERNELS(MatMul) {
  table.Add<Bf16>("MatMul", "cpu.gemm.packed.bf16", Bf16::Legal);
  table.Add<F32>("MatMul", "cpu.gemm.packed.f32", F32::Legal);
  constexpr KernelName kStrassen = "cpu.gemm.strassen.f32";
  if (kStrassen.selected()) table.Add(StrassenEntry(kStrassen.text()));
  table.Add<MatMul>("MatMul", "cpu.gemm", MatMul::Legal);
}

}  // namespace tern
