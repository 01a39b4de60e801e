// What is done to the sums of a product or convolution while they are in cache:
// y = activation(sums + terms), in the type that is computed in.
#pragma once
#include "kernels/cpu/elementwise/broadcast.h"
#include "kernels/cpu/elementwise/kinds.h"

namespace tern::cpu {

// The type that products and sums of a result type are computed in: kF32, kF64, kU32 or kU64; kInvalid: none.
DType ComputeType(DType result);

class Epilogue {
 public:
  // Of a double, where there is no vector loop: kind is the activation's.
  using Scalar = double (*)(int kind, double alpha, double beta, double x);

  Epilogue() = default;
  // Results of these dims (at most kMaxRank axes) and type.
  Epilogue(DType type, const Dims& dims) { Reset(type, dims); }
  // Starts anew for other results; keeps its memory.
  void Reset(DType type, const Dims& dims);

  // An operand of the result's type that broadcasts to it; its data comes with SetTerm. At most kMaxTerms.
  static constexpr int kMaxTerms = 2;
  int AddTerm(const Dims& dims);
  int terms() const { return term_count_; }
  void SetTerm(int i, const void* data) { terms_[static_cast<size_t>(i)].data = data; }
  // For float types; clip takes its bounds from alpha and beta. f64 goes through `scalar(scalar_kind, …)`.
  void SetActivation(UnaryKind kind, float alpha, float beta, Scalar scalar, int scalar_kind);

  bool empty() const { return term_count_ == 0 && !active_; }
  // `count` sums in ComputeType, which become elements [index, index + count) of the result.
  void Apply(int64_t index, int64_t count, void* sums) const { Apply({1, count, index, 0, sums, 0}); }
  // The same for several rows of sums.
  struct Rows {
    int64_t count, width;
    int64_t index, index_step;  // where in the result the first row starts, and from row to row
    void* sums;
    int64_t sums_step;  // elements from row to row
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

// Applies an epilogue (null: none) to f32 results that are written one after the other, some thousand at a
// time: few enough to be in cache, and many enough for the call not to matter.
class EpilogueRun {
 public:
  // y: the whole result; what is written starts at element `first`.
  EpilogueRun(const Epilogue* epilogue, float* y, int64_t first)
      : epilogue_(epilogue), y_(y), finished_(first) {}
  // Elements up to `end` are written.
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
