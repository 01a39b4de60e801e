// The epilogue of a MatMul or Conv: y = activation(sums + terms), in the compute type. It is applied to the
// accumulators while they are in the cache.
#pragma once
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/elementwise/kinds.h"

namespace tern::cpu {

// Returns the type in which results of type `result` are computed: kF32, kF64, kU32 or kU64. Returns kInvalid
// if the kernels do not support the type.
DType ComputeType(DType result);

class Epilogue {
 public:
  // Computes the activation of one f64 number. There are no vector loops for f64.
  using Scalar = double (*)(int kind, double alpha, double beta, double x);

  Epilogue() = default;
  // Prepares for results of this type and these dims (at most kMaxRank axes).
  Epilogue(DType type, const Dims& dims) { Reset(type, dims); }
  // Prepares for other results. Reuses the memory of this object.
  void Reset(DType type, const Dims& dims);

  // Adds an operand of the result's type that broadcasts to the result, and returns its index. SetTerm sets
  // its data. There may be up to kMaxTerms operands.
  static constexpr int kMaxTerms = 2;
  int AddTerm(const Dims& dims);
  int terms() const { return term_count_; }
  void SetTerm(int i, const void* data) { terms_[static_cast<size_t>(i)].data = data; }
  // The result must be a float type. Clip uses alpha as the lower limit and beta as the upper limit. For f64
  // results, `scalar(scalar_kind, …)` computes the activation.
  void SetActivation(UnaryKind kind, float alpha, float beta, Scalar scalar, int scalar_kind);

  bool empty() const { return term_count_ == 0 && !active_; }
  // Applies the epilogue in place to `count` sums of the compute type, which are elements [index, index +
  // count) of the result.
  void Apply(int64_t index, int64_t count, void* sums) const { Apply({1, count, index, 0, sums, 0}); }
  // Argument of the Apply below, which does the same for several rows of sums.
  struct Rows {
    int64_t count, width;
    // Row 0 of the sums starts at element `index` of the result, row 1 at index + index_step, and so on.
    int64_t index, index_step;
    void* sums;
    int64_t sums_step;  // row stride of sums, in elements
  };
  void Apply(const Rows& rows) const;

 private:
  struct Term {
    const void* data = nullptr;
    Broadcast<1> plan;
  };
  void Add(const Term& term, int64_t index, int64_t count, char* sums) const;
  void Activate(int64_t count, void* sums) const;

  DType type_ = DType::kF32, compute_ = DType::kF32;
  Dims dims_;
  std::array<Term, kMaxTerms> terms_;
  int term_count_ = 0;
  bool active_ = false;
  UnaryKind kind_ = UnaryKind::kRelu;
  float alpha_ = 0, beta_ = 0;
  Scalar scalar_ = nullptr;
  int scalar_kind_ = 0;
};

// Applies an epilogue to f32 results that the caller writes in order. Does nothing if the epilogue is null.
// Applies the epilogue to 2048 or more new elements at a time, so that they are still in the cache and the
// overhead of a call is small.
class EpilogueRun {
 public:
  // y is the entire result. The caller writes elements from `first` on.
  EpilogueRun(const Epilogue* epilogue, float* y, int64_t first)
      : epilogue_(epilogue), y_(y), finished_(first) {}
  // The caller calls Reach(end) whenever it has written all elements before `end`, and Finish(end) at the
  // end.
  void Reach(int64_t end) {
    if (end - finished_ >= kAtOnce) Finish(end);
  }
  void Finish(int64_t end) {
    if (epilogue_) epilogue_->Apply(finished_, end - finished_, y_ + finished_);
    finished_ = end;
  }

 private:
  static constexpr int64_t kAtOnce = 2048;
  const Epilogue* epilogue_;
  float* y_;
  int64_t finished_;
};

}  // namespace tern::cpu
