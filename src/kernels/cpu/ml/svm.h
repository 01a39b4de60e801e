// Computes the similarity of rows to support vectors, for many rows at once.
#pragma once
#include "kernels/cpu/ml/svm_simd.h"

namespace tern::cpu {

// Support vectors packed for SvmSimd(). The packed vectors are in the caller's memory, which must outlive
// this object and its copies.
class SupportVectors {
 public:
  struct Form {
    SvmFunction function = SvmFunction::kLinear;  // must not be kAffine
    float gamma = 0, coef0 = 0, degree = 0;
  };
  SupportVectors() = default;
  // `vectors` is [count, width] and is not read after the constructor. `packed` has PackedSize() floats.
  SupportVectors(const float* vectors, int64_t count, int64_t width, const Form& form, float* packed);
  static int64_t PackedSize(int64_t count, int64_t width);

  int64_t count() const { return count_; }
  int64_t width() const { return panels_.width; }
  // Returns the row stride of results in floats. It is at least count().
  int64_t row() const { return panels_.count * kSvmPanel; }
  // Sets y[r][v] to the similarity of row r of x to vector v. Elements y[r][v] with v >= count() are
  // unspecified. A result does not depend on the other rows and vectors.
  void Compare(const float* x, int64_t rows, float* y) const;

 private:
  int64_t count_ = 0;
  float degree_ = 0;
  bool general_power_ = false;  // the degree is not a small integer, so std::pow is called per element
  SvmPanels panels_;
};

// Returns the number of rows to compare per call, so that their results stay in the cache.
int64_t SvmBlock(const SupportVectors& vectors);

}  // namespace tern::cpu
