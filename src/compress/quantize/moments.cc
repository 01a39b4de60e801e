#include "compress/quantize/moments.h"

#include <algorithm>

namespace tern::compress {
namespace {

int64_t BlocksOf(int64_t columns) { return (columns + Moments::kMostColumns - 1) / Moments::kMostColumns; }

// Returns the first column of a block. The sizes of blocks differ by at most one column.
int64_t BlockStart(int64_t columns, int64_t block) { return columns * block / BlocksOf(columns); }

}  // namespace

int64_t RowsWanted(const Patches& patches) { return std::clamp<int64_t>(4 * patches.columns(), 1024, 4096); }

Moments::Moments(const Patches& patches)
    : groups_(patches.groups()),
      columns_(patches.columns()),
      sums_(static_cast<size_t>(groups_ * columns_), 0) {
  for (int64_t g = 0; g < groups_; ++g)
    for (int64_t b = 0; b < BlocksOf(columns_); ++b)
      second_.emplace_back(BlockStart(columns_, b + 1) - BlockStart(columns_, b));
}

void Moments::Add(const std::vector<float>& rows, const Workers& workers) {
  const int64_t width = groups_ * columns_, count = static_cast<int64_t>(rows.size()) / width;
  for (int64_t r = 0; r < count; ++r)
    for (int64_t i = 0; i < width; ++i)
      sums_[static_cast<size_t>(i)] += rows[static_cast<size_t>(r * width + i)];
  std::vector<float> part;
  for (int64_t g = 0; g < groups_; ++g)
    for (int64_t b = 0; b < BlocksOf(columns_); ++b) {
      const int64_t first = BlockStart(columns_, b), size = BlockStart(columns_, b + 1) - first;
      part.resize(static_cast<size_t>(count * size));
      for (int64_t r = 0; r < count; ++r)
        std::copy_n(rows.data() + r * width + g * columns_ + first, size, part.data() + r * size);
      second_[static_cast<size_t>(g * BlocksOf(columns_) + b)].Add(part.data(), count, workers);
    }
  rows_ += count;
}

std::vector<double> Moments::Numbers() const {
  std::vector<double> numbers = {static_cast<double>(rows_)};
  numbers.insert(numbers.end(), sums_.begin(), sums_.end());
  for (const Hessian& h : second_) numbers.insert(numbers.end(), h.sum.begin(), h.sum.end());
  return numbers;
}

bool Moments::Parse(const std::vector<double>& numbers) {
  size_t expected = 1 + sums_.size();
  for (const Hessian& h : second_) expected += h.sum.size();
  if (numbers.size() != expected || !(numbers[0] >= 0 && numbers[0] < 1e15)) return false;
  rows_ = static_cast<int64_t>(numbers[0]);
  const double* from = numbers.data() + 1;
  std::copy_n(from, sums_.size(), sums_.begin());
  from += sums_.size();
  for (Hessian& h : second_) {
    std::copy_n(from, h.sum.size(), h.sum.begin());
    from += h.sum.size();
    h.rows = rows_;
  }
  return true;
}

std::vector<Moments::Block> Moments::Covariance(int64_t group, double noise) const {
  std::vector<Block> blocks;
  const double n = std::max<double>(1, static_cast<double>(rows_));
  for (int64_t b = 0; b < BlocksOf(columns_); ++b) {
    const Hessian& h = second_[static_cast<size_t>(group * BlocksOf(columns_) + b)];
    Block block{BlockStart(columns_, b), h.inputs, std::vector<float>(h.sum.size())};
    double diagonal = 0;
    for (int64_t i = 0; i < h.inputs; ++i)
      for (int64_t j = 0; j < h.inputs; ++j) {
        const auto at = static_cast<size_t>(i * h.inputs + j);
        const double c = h.sum[at] / n - Mean(group, block.first + i) * Mean(group, block.first + j);
        block.covariance[at] = static_cast<float>(c);
        if (i == j) diagonal += c;
      }
    const double added = noise + 0.01 * diagonal / static_cast<double>(h.inputs);
    for (int64_t i = 0; i < h.inputs; ++i)
      block.covariance[static_cast<size_t>(i * h.inputs + i)] += static_cast<float>(added);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace tern::compress
