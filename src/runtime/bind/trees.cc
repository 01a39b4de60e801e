// Binds ensembles of decision trees to the kernel that traverses them.
#include "kernels/cpu/ml/trees.h"

#include <limits>

#include "kernel_api/kernel_table.h"
#include "kernels/cpu/support/blocking.h"
#include "ops/ml/tree_ensemble.h"
#include "ops/ml/tree_ensemble_classifier.h"

namespace tern {
namespace {

using cpu::Aligned;

template <class T> constexpr DType kTypeOf = sizeof(T) == sizeof(float) ? DType::kF32 : DType::kF64;

// Converts elements to T. Integers are converted to f32 first, as in the reference function.
template <class T> void Convert(const Tensor& x, int64_t begin, int64_t count, T* to) {
  const bool integer = IsInt(x.dtype());
  for (int64_t i = 0; i < count; ++i)
    to[i] = integer ? static_cast<T>(static_cast<float>(LoadLong(x, begin + i)))
                    : static_cast<T>(LoadDouble(x, begin + i));
}

// A forest in the form that the kernel reads, and the votes of its leaves. Shape inference has checked the
// attributes.
template <class T> struct VotingForest {
  explicit VotingForest(const Forest& f) : leaf_start(f.leaf_start), target(f.vote_target) {
    const auto values = f.value.defined() ? ToDoubles(f.value) : std::vector<double>();
    if (f.vote_weight.defined()) weight = ToDoubles(f.vote_weight);
    f32 = !f.vote_weight.defined() || f.vote_weight.dtype() == DType::kF32;
    trees.roots.assign(f.roots.begin(), f.roots.end());
    for (size_t i = 0; i < f.feature.size(); ++i) {
      trees.nodes.push_back(
          {static_cast<T>(values[i]),
           static_cast<int32_t>(f.feature[i]),
           {static_cast<int32_t>(f.false_child[i]), static_cast<int32_t>(f.true_child[i])}});
      columns = std::max(columns, f.feature[i] + 1);
    }
    const auto is_set = [](int64_t v) { return v != 0; };
    if (std::any_of(f.mode.begin(), f.mode.end(), is_set) ||
        std::any_of(f.missing_true.begin(), f.missing_true.end(), is_set))
      AddTests(f);
  }

  void AddTests(const Forest& f) {
    if (f.member.defined())
      for (double v : ToDoubles(f.member)) trees.members.push_back(static_cast<T>(v));
    size_t set = 0;
    for (size_t i = 0; i < f.mode.size(); ++i) {
      typename cpu::Trees<T>::Test test{static_cast<cpu::TreeTest>(f.mode[i]),
                                        !f.missing_true.empty() && f.missing_true[i] != 0, 0, 0};
      if (test.kind == cpu::TreeTest::kMember) {
        test.set_begin = static_cast<int32_t>(f.member_start[set++]);
        test.set_end = static_cast<int32_t>(f.member_start[set]);
      }
      trees.tests.push_back(test);
    }
  }

  cpu::Trees<T> trees;
  std::vector<int64_t> leaf_start, target;
  std::vector<double> weight;
  bool f32 = true;
  int64_t columns = 0;
};

// Writes the results of regression: one number per target and row.
class RegressorOutput {
 public:
  using Op = TreeEnsemble;
  explicit RegressorOutput(const Op& op) : op_(op), base_(BaseOf(op)) {
    base_.resize(static_cast<size_t>(op.targets), 0.0);
  }
  static int64_t Targets(const Op& op) { return op.targets; }
  static Aggregate AggregateOf(const Op& op) { return op.aggregate; }
  static bool Legal(const KernelQuery& q) {
    return q.OutType(0) == DType::kF32 || q.OutType(0) == DType::kF64;
  }
  void Write(int64_t row, const VoteSum* votes, double* scores, const RunContext& c) const {
    const double divisor = op_.aggregate == Aggregate::kAverage ? static_cast<double>(op_.roots.size()) : 1;
    const auto targets = static_cast<size_t>(op_.targets);
    for (size_t t = 0; t < targets; ++t) scores[t] = votes[t].sum / divisor + base_[t];
    FinishScores(op_.transform, SecondClass::kNone, scores, targets);
    const bool f32 = c.Out(0).dtype() == DType::kF32;
    for (int64_t t = 0, at = row * op_.targets; t < op_.targets; ++t, ++at) {
      if (f32)
        c.Out<float>(0)[at] = static_cast<float>(scores[t]);
      else
        c.Out<double>(0)[at] = scores[t];
    }
  }

 private:
  Op op_;
  std::vector<double> base_;
};

// Writes the results of classification: labels and scores. Labels must be integers.
class ClassifierOutput {
 public:
  using Op = TreeEnsembleClassifier;
  explicit ClassifierOutput(const Op& op) : op_(op), decider_(op_) {}
  ClassifierOutput(const ClassifierOutput&) = delete;
  ClassifierOutput& operator=(const ClassifierOutput&) = delete;
  static int64_t Targets(const Op& op) { return op.labels.count(); }
  static Aggregate AggregateOf(const Op&) { return Aggregate::kSum; }
  static bool Legal(const KernelQuery& q) { return q.OutType(0) == DType::kI64; }
  void Write(int64_t row, VoteSum* votes, double* scores, const RunContext& c) const {
    const Decision v = decider_.Decide(votes, scores);
    c.Out<int64_t>(0)[row] = v.plain ? v.label : op_.labels.ints[static_cast<size_t>(v.label)];
    const int64_t classes = op_.labels.count();
    if (c.OutputCount() < 2) return;
    for (int64_t k = 0; k < classes; ++k) c.Out<float>(1)[row * classes + k] = static_cast<float>(scores[k]);
  }

 private:
  const Op op_;
  const Decider decider_;  // refers to op_
};

// All rows of a block traverse the first tree, then the second tree, and so on. So a tree stays in the cache
// while the block traverses it. Votes are added in the order of the trees, so the results do not depend on
// the number of threads.
template <class T, class Output> class TreeKernel : public KernelOf<TreeKernel<T, Output>> {
 public:
  static bool Legal(const KernelQuery& q) {
    const Forest& f = q.attrs().As<typename Output::Op>();
    const DType x = q.InType(0);
    constexpr size_t kMax = std::numeric_limits<int32_t>::max();
    const DType work = f.value.defined() ? f.value.dtype() : DType::kF32;
    if (work != kTypeOf<T> || (!IsInt(x) && BitWidth(x) > static_cast<int>(8 * sizeof(T)))) return false;
    if (f.feature.size() > kMax || f.leaf_start.size() > kMax ||
        (f.member.defined() && f.member.dtype() != work))
      return false;
    for (int64_t feature : f.feature)
      if (feature > static_cast<int64_t>(kMax)) return false;
    return Output::Legal(q);
  }

  Status Prepare(PrepareContext& c) override {
    const auto& op = c.attrs().As<typename Output::Op>();
    forest_ = std::make_shared<const VotingForest<T>>(op);
    output_ = std::make_shared<const Output>(op);
    targets_ = Output::Targets(op), aggregate_ = Output::AggregateOf(op);
    return {};
  }

  Status Resize(ResizeContext& c) override {
    const Dims& x = c->InDims(0);
    rows_ = x.size() == 1 ? 1 : x[0], width_ = x.back();
    if (width_ < forest_->columns)
      return InvalidArgument("feature ", forest_->columns - 1, " is tested, but x has ", width_, " features");
    as_is_ = c->InType(0) == kTypeOf<T>;
    block_ = std::clamp<int64_t>(4096 / std::max<int64_t>(targets_, as_is_ ? 1 : width_ / 4), 1, kMaxRows);
    votes_at_ = Aligned(static_cast<size_t>(std::max<int64_t>(targets_, 2)) * sizeof(double));
    x_at_ = votes_at_ + Aligned(static_cast<size_t>(block_ * targets_) * sizeof(VoteSum));
    thread_bytes_ = x_at_ + (as_is_ ? 0 : Aligned(static_cast<size_t>(block_ * width_) * sizeof(T)));
    c.SetScratch(thread_bytes_ * static_cast<size_t>(c.threads()));
    return {};
  }

  Status Run(RunContext& c) override {
    const int64_t grain =
        std::max<int64_t>(1, kWork / (static_cast<int64_t>(forest_->trees.roots.size()) + 1));
    c.workers().ParallelFor(rows_, grain, [&](int64_t begin, int64_t end, int worker) {
      std::byte* scratch = c.scratch<std::byte>() + thread_bytes_ * static_cast<size_t>(worker);
      for (int64_t r = begin; r < end; r += block_) RunBlock(c, r, std::min(block_, end - r), scratch);
    });
    return {};
  }

 private:
  static constexpr int64_t kMaxRows = 64;
  static constexpr int64_t kWork = 1000;  // minimum number of tree traversals per thread

  void RunBlock(const RunContext& c, int64_t first, int64_t rows, std::byte* scratch) const {
    auto* scores = reinterpret_cast<double*>(scratch);
    auto* votes = reinterpret_cast<VoteSum*>(scratch + votes_at_);
    std::fill(votes, votes + rows * targets_, VoteSum());
    const T* x = nullptr;
    if (as_is_) {
      x = c.In<T>(0) + first * width_;
    } else {
      auto* converted = reinterpret_cast<T*>(scratch + x_at_);
      Convert(c.In(0), first * width_, rows * width_, converted);
      x = converted;
    }
    int32_t leaf[kMaxRows];
    for (const int32_t root : forest_->trees.roots) {
      cpu::WalkTree(forest_->trees, root, x, width_, rows, leaf);
      for (int64_t r = 0; r < rows; ++r) Vote(leaf[r], votes + r * targets_);
    }
    for (int64_t r = 0; r < rows; ++r) output_->Write(first + r, votes + r * targets_, scores, c);
  }

  void Vote(int32_t leaf, VoteSum* votes) const {
    const VotingForest<T>& b = *forest_;
    const auto at = static_cast<size_t>(leaf);
    for (auto v = static_cast<size_t>(b.leaf_start[at]); v < static_cast<size_t>(b.leaf_start[at + 1]); ++v)
      AddVote(aggregate_, votes[b.target[v]], b.weight[v], b.f32);
  }

  std::shared_ptr<const VotingForest<T>> forest_;
  std::shared_ptr<const Output> output_;
  int64_t targets_ = 1, rows_ = 0, width_ = 0, block_ = 1;
  Aggregate aggregate_ = Aggregate::kSum;
  bool as_is_ = true;
  size_t votes_at_ = 0, x_at_ = 0;  // offsets in the scratch memory of a thread
  size_t thread_bytes_ = 0;         // size of the scratch memory of a thread
};

template <class T, class Output>
[[gnu::always_inline]] inline void AddTrees(KernelTable& table, const char* op, KernelName name) {
  using Kernel = TreeKernel<T, Output>;
  table.Add<Kernel>(op, name, Kernel::Legal);
}

}  // namespace

TERN_KERNELS(Trees) {
  AddTrees<float, RegressorOutput>(table, "TreeEnsemble", "cpu.trees.f32");
  AddTrees<double, RegressorOutput>(table, "TreeEnsemble", "cpu.trees.f64");
  AddTrees<float, ClassifierOutput>(table, "TreeEnsembleClassifier", "cpu.trees.classes.f32");
  AddTrees<double, ClassifierOutput>(table, "TreeEnsembleClassifier", "cpu.trees.classes.f64");
}

}  // namespace tern
