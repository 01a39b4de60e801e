// Binds support vector machines to the kernel that compares rows with support vectors.
#include "kernels/cpu/ml/svm.h"

#include "kernel_api/kernel_table.h"
#include "kernels/cpu/support/blocking.h"
#include "ops/ml/svm_classifier.h"
#include "ops/ml/svm_regressor.h"

namespace tern {
namespace {

using cpu::Aligned;

constexpr cpu::SvmFunction kFunctions[] = {cpu::SvmFunction::kLinear, cpu::SvmFunction::kPoly,
                                           cpu::SvmFunction::kRbf, cpu::SvmFunction::kSigmoid};

cpu::SupportVectors::Form FormOf(const SvmModel& m) {
  return {kFunctions[static_cast<size_t>(m.kernel)], m.gamma, m.coef0, m.degree};
}

// Computes the similarities of each row to all support vectors, in f32 and block by block. T::Write computes
// the results of a row from its similarities.
template <class T> class SvmRows : public KernelOf<T> {
 public:
  Status Resize(ResizeContext& c) override {
    const Dims& x = c->InDims(0);
    if (x.back() != vectors_.width())
      return InvalidArgument("x has ", x.back(), " features, but the model has ", vectors_.width());
    rows_ = x.size() == 1 ? 1 : x[0];
    as_is_ = c->InType(0) == DType::kF32;
    block_ = cpu::SvmBlock(vectors_);
    similar_at_ = Aligned(static_cast<size_t>(static_cast<const T&>(*this).RowDoubles()) * sizeof(double));
    x_at_ = similar_at_ + Aligned(static_cast<size_t>(block_ * vectors_.row()) * sizeof(float));
    thread_bytes_ =
        x_at_ + (as_is_ ? 0 : Aligned(static_cast<size_t>(block_ * vectors_.width()) * sizeof(float)));
    c.SetScratch(thread_bytes_ * static_cast<size_t>(c.threads()));
    return {};
  }

  Status Run(RunContext& c) override {
    const int64_t products = vectors_.row() * vectors_.width();
    const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, products));
    c.workers().ParallelFor(rows_, grain, [&](int64_t begin, int64_t end, int worker) {
      std::byte* scratch = c.scratch<std::byte>() + thread_bytes_ * static_cast<size_t>(worker);
      for (int64_t r = begin; r < end; r += block_) RunBlock(c, r, std::min(block_, end - r), scratch);
    });
    return {};
  }

 protected:
  void Pack(PrepareContext& c, const float* vectors, int64_t count, int64_t width,
            const cpu::SupportVectors::Form& form) {
    packed_ = c.AllocateWeights(DType::kF32, {cpu::SupportVectors::PackedSize(count, width)});
    vectors_ = cpu::SupportVectors(vectors, count, width, form, packed_.template data<float>());
  }

 private:
  static constexpr int64_t kWork = 100000;  // minimum number of multiply-adds per thread

  void RunBlock(const RunContext& c, int64_t first, int64_t rows, std::byte* scratch) const {
    auto* row = reinterpret_cast<double*>(scratch);
    auto* similar = reinterpret_cast<float*>(scratch + similar_at_);
    const int64_t width = vectors_.width();
    const float* x =
        as_is_ ? c.In<float>(0) + first * width
               : AsF32(c.In(0), first * width, rows * width, reinterpret_cast<float*>(scratch + x_at_));
    vectors_.Compare(x, rows, similar);
    for (int64_t r = 0; r < rows; ++r)
      static_cast<const T&>(*this).Write(first + r, similar + r * vectors_.row(), row, c);
  }

  static const float* AsF32(const Tensor& x, int64_t begin, int64_t count, float* to) {
    const bool integer = IsInt(x.dtype());
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(integer ? static_cast<double>(LoadLong(x, begin + i))
                                         : LoadDouble(x, begin + i));
    return to;
  }

  Tensor packed_;
  cpu::SupportVectors vectors_;  // refers to packed_
  int64_t rows_ = 0, block_ = 1;
  bool as_is_ = true;
  size_t similar_at_ = 0, x_at_ = 0;  // offsets in the scratch memory of a thread
  size_t thread_bytes_ = 0;           // size of the scratch memory of a thread
};

class SvmClasses : public SvmRows<SvmClasses> {
 public:
  static bool Legal(const KernelQuery& q) {
    const auto layout = LayoutOf(q.attrs().As<SVMClassifier>());
    return layout.ok() && layout->width > 0 && q.OutType(0) == DType::kI64;
  }

  Status Prepare(PrepareContext& c) override {
    op_ = std::make_shared<const SVMClassifier>(c.attrs().As<SVMClassifier>());
    TERN_ASSIGN(l_, LayoutOf(*op_));
    if (l_.pairwise)
      Pack(c, op_->vectors.data(), l_.vectors, l_.width, FormOf(*op_));
    else
      Pack(c, op_->coefficients.data(), l_.classes, l_.width, {});
    return {};
  }

  int64_t RowDoubles() const { return RowSize(l_) + WorkSize(*op_, l_); }

  void Write(int64_t r, const float* similar, double* row, const RunContext& c) const {
    if (l_.pairwise)
      PairScores(
          *op_, l_, [&](int64_t k, int64_t of) { return Part(similar, k, of); }, row);
    else
      for (int64_t k = 0; k < l_.classes; ++k) row[k] = static_cast<double>(similar[k] + op_->rho[0]);
    const int64_t winner = FinishRow(*op_, l_, row, row + RowSize(l_));
    c.Out<int64_t>(0)[r] = op_->labels.ints[static_cast<size_t>(winner)];
    if (c.OutputCount() < 2) return;
    const int64_t count = ScoreCount(*op_, l_);
    for (int64_t k = 0; k < count; ++k) c.Out<float>(1)[r * count + k] = static_cast<float>(row[k]);
  }

 private:
  double Part(const float* similar, int64_t coefficient_row, int64_t of) const {
    const int64_t begin = l_.start[static_cast<size_t>(of)], end = l_.start[static_cast<size_t>(of) + 1];
    const float* coefficients = op_->coefficients.data() + coefficient_row * l_.vectors;
    return static_cast<double>(cpu::SvmSimd().dot(coefficients + begin, similar + begin, end - begin));
  }

  std::shared_ptr<const SVMClassifier> op_;
  SvmLayout l_;
};

class SvmValues : public SvmRows<SvmValues> {
 public:
  static bool Legal(const KernelQuery& q) { return WidthOf(q.attrs().As<SVMRegressor>()) > 0; }

  Status Prepare(PrepareContext& c) override {
    op_ = std::make_shared<const SVMRegressor>(c.attrs().As<SVMRegressor>());
    if (op_->supports > 0)
      Pack(c, op_->vectors.data(), op_->supports, WidthOf(*op_), FormOf(*op_));
    else
      Pack(c, op_->coefficients.data(), 1, WidthOf(*op_), {});
    return {};
  }

  int64_t RowDoubles() const { return 0; }

  void Write(int64_t r, const float* similar, double*, const RunContext& c) const {
    const float sum =
        op_->supports > 0 ? cpu::SvmSimd().dot(op_->coefficients.data(), similar, op_->supports) : similar[0];
    const float y = sum + op_->rho[0];
    c.Out<float>(0)[r] = op_->one_class ? (y > 0 ? 1.f : -1.f) : y;
  }

 private:
  std::shared_ptr<const SVMRegressor> op_;
};

}  // namespace

TERN_KERNELS(Svm) {
  table.Add<SvmClasses>("SVMClassifier", "cpu.svm.classes", SvmClasses::Legal);
  table.Add<SvmValues>("SVMRegressor", "cpu.svm.values", SvmValues::Legal);
}

}  // namespace tern
