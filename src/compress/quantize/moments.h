// First and second moments of the rows by which the weights of a layer are multiplied.
#pragma once
#include "compress/quantize/patches.h"
#include "compress/weights/hessian.h"

namespace tern::compress {

// Second moments are kept per group of a convolution, and for blocks of at most kMostColumns columns, so that
// memory is bounded. Columns of different blocks count as uncorrelated.
class Moments {
 public:
  static constexpr int64_t kMostColumns = 1024;

  explicit Moments(const Patches& patches);
  // `rows` are [count][groups][columns].
  void Add(const std::vector<float>& rows, const Workers& workers);

  int64_t rows() const { return rows_; }
  int64_t groups() const { return groups_; }
  int64_t columns() const { return columns_; }
  double Mean(int64_t group, int64_t column) const {
    return rows_ ? sums_[static_cast<size_t>(group * columns_ + column)] / static_cast<double>(rows_) : 0;
  }
  struct Block {
    int64_t first, columns;
    std::vector<float> covariance;  // [columns][columns]
  };
  // Returns the covariances of a group. Adds `noise` and 1 % of the diagonal's mean to the diagonal.
  std::vector<Block> Covariance(int64_t group, double noise) const;

  // Numbers returns the state, so that it can be stored. Parse restores such a state. If the numbers are not
  // the state of such a layer, Parse returns false and changes nothing.
  std::vector<double> Numbers() const;
  bool Parse(const std::vector<double>& numbers);

 private:
  int64_t groups_, columns_, rows_ = 0;
  std::vector<double> sums_;     // [groups][columns]
  std::vector<Hessian> second_;  // [groups][blocks]
};

// Returns how many rows are enough to estimate the moments of a layer.
int64_t RowsWanted(const Patches& patches);

}  // namespace tern::compress
