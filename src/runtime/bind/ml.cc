// Binds LinearClassifier to the matrix product, and Normalizer to its kernel.
#include "kernels/cpu/gemm/panels.h"
#include "kernels/cpu/ml/normalize.h"
#include "kernels/cpu/support/blocking.h"
#include "ops/ml/linear_classifier.h"
#include "runtime/bind/support.h"

namespace tern {
namespace {

int64_t RowsIn(const Dims& x) { return x.size() == 1 ? 1 : x[0]; }

// Computes the scores of all rows by one product, then label and probabilities row by row. Labels must be
// integers.
class LinearClasses : public KernelOf<LinearClasses> {
 public:
  static bool Legal(const KernelQuery& q) {
    const auto layout = LayoutOf(q.attrs().As<LinearClassifier>());
    return layout.ok() && layout->width > 0 && q.OutType(0) == DType::kI64;
  }

  Status Prepare(PrepareContext& c) override {
    op_ = std::make_shared<const LinearClassifier>(c.attrs().As<LinearClassifier>());
    TERN_ASSIGN(l_, LayoutOf(*op_));
    panels_ = c.AllocateWeights(DType::kF32, {cpu::PanelsSize(l_.width, l_.rows, cpu::Operands::kF32)});
    const cpu::PanelSource source{op_->coefficients.data(), 1, l_.width, 1};
    cpu::PackPanels(source, l_.width, l_.rows, panels_.data<float>(), c.workers(), cpu::Operands::kF32);
    return {};
  }

  Status Resize(ResizeContext& c) override {
    const Dims& x = c->InDims(0);
    if (x.back() != l_.width)
      return InvalidArgument("x has ", x.back(), " features, but the model has ", l_.width);
    as_is_ = c->InType(0) == DType::kF32;
    p_ = {};
    p_.m = RowsIn(x), p_.k = l_.width, p_.n = l_.rows;
    p_.a_row = l_.width, p_.a_column = 1, p_.c_row = l_.rows;
    row_at_ = cpu::Aligned(cpu::PanelScratch(p_, c.threads()));
    scores_at_ = row_at_ + RowBytes() * static_cast<size_t>(c.threads());
    x_at_ = scores_at_ + cpu::Aligned(static_cast<size_t>(p_.m * p_.n) * sizeof(float));
    c.SetScratch(x_at_ + (as_is_ ? 0 : static_cast<size_t>(p_.m * p_.k) * sizeof(float)));
    return {};
  }

  Status Run(RunContext& c) override {
    auto* scratch = c.scratch<std::byte>();
    auto* scores = reinterpret_cast<float*>(scratch + scores_at_);
    cpu::PanelProduct p = p_;
    p.a = as_is_ ? c.In<float>(0) : AsF32(c, reinterpret_cast<float*>(scratch + x_at_));
    p.panels = panels_.data<const float>(), p.c = scores;
    if (!op_->intercepts.empty()) p.tile.bias = op_->intercepts.data();
    cpu::MultiplyPanels(p, scratch, c.workers());
    c.workers().ParallelFor(p.m, 256, [&](int64_t begin, int64_t end, int worker) {
      auto* row = reinterpret_cast<double*>(scratch + row_at_ + RowBytes() * static_cast<size_t>(worker));
      for (int64_t r = begin; r < end; ++r) Finish(c, r, scores + r * l_.rows, row);
    });
    return {};
  }

 private:
  size_t RowBytes() const { return cpu::Aligned(static_cast<size_t>(l_.classes + 2) * sizeof(double)); }

  static const float* AsF32(const RunContext& c, float* to) {
    const Tensor& x = c.In(0);
    const bool integer = IsInt(x.dtype());
    c.workers().ParallelFor(x.size(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = integer ? static_cast<float>(LoadLong(x, i)) : static_cast<float>(LoadDouble(x, i));
    });
    return to;
  }

  void Finish(const RunContext& c, int64_t r, const float* scores, double* row) const {
    for (int64_t k = 0; k < l_.rows; ++k) row[k] = static_cast<double>(scores[k]);
    c.Out<int64_t>(0)[r] = op_->labels.ints[static_cast<size_t>(FinishRow(*op_, l_, row))];
    if (c.OutputCount() < 2) return;
    for (int64_t k = 0; k < l_.classes; ++k) c.Out<float>(1)[r * l_.classes + k] = static_cast<float>(row[k]);
  }

  std::shared_ptr<const LinearClassifier> op_;
  LinearLayout l_;
  Tensor panels_;
  cpu::PanelProduct p_;
  bool as_is_ = true;
  size_t row_at_ = 0, scores_at_ = 0, x_at_ = 0;
};

class Normalizer : public KernelOf<Normalizer> {
 public:
  static bool Legal(const KernelQuery& q) {
    const DType x = q.InType(0);
    return x == DType::kF32 || x == DType::kF64 || x == DType::kI32 || x == DType::kI64;
  }
  Status Resize(ResizeContext& c) override {
    constexpr const char* kNorms[] = {"max", "l1", "l2"};
    norm_ = static_cast<cpu::RowNorm>(IndexOf(kNorms, c->attrs().Text("norm")));
    rows_ = RowsIn(c->InDims(0)), width_ = c->InDims(0).back();
    return {};
  }
  Status Run(RunContext& c) override {
    const DType type = c.In(0).dtype();
    type == DType::kF32   ? Normalize<float>(c)
    : type == DType::kF64 ? Normalize<double>(c)
    : type == DType::kI32 ? Normalize<int32_t>(c)
                          : Normalize<int64_t>(c);
    return {};
  }

 private:
  template <class T> void Normalize(const RunContext& c) const {
    cpu::NormalizeRows(norm_, rows_, width_, c.In<T>(0), c.Out<float>(0), c.workers());
  }
  cpu::RowNorm norm_ = cpu::RowNorm::kMax;
  int64_t rows_ = 0, width_ = 0;
};

}  // namespace

TERN_KERNELS(Ml) {
  table.Add<LinearClasses>("LinearClassifier", "cpu.linear_classifier", LinearClasses::Legal);
  table.Add<Normalizer>("Normalizer", "cpu.normalizer", Normalizer::Legal);
}

}  // namespace tern
