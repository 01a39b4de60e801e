#include "kernels/cpu/move/plane.h"

#include <algorithm>
#include <cstdlib>

namespace tern::cpu {
namespace {

constexpr int64_t kWork = 16384;        // elements of a block of full rows
constexpr int64_t kShortRow = 8;        // elements; a shorter row costs as much as a row of this length
constexpr int64_t kLine = 64;           // bytes of a cache line
constexpr int64_t kStream = 1024;       // bytes that are read or written contiguously
constexpr int64_t kStreams = 64;        // maximum rows of a block that is long along columns
constexpr int64_t kBlockBytes = 65536;  // bytes of a block with few rows
constexpr int64_t kCached = 4 << 20;    // bytes; the data of a smaller copy is assumed to be in the caches

// Computes CeilDiv, without a division in the common case of one part.
int64_t PartsOf(int64_t n, int64_t part) { return n <= part ? n > 0 : (n + part - 1) / part; }

}  // namespace

PlaneBlocks::PlaneBlocks(const Plane& plane, int64_t width, int64_t bytes)
    : all_rows_(plane.rows.size), all_columns_(plane.columns.size), columns_(all_columns_) {
  if (plane.Transposed()) {
    const int64_t line = kLine / width;
    const bool cached = bytes <= kCached && all_columns_ >= line;
    down_ = cached || std::abs(plane.columns.from) < plane.rows.to;
    const int64_t short_side = down_                     ? std::min(all_rows_, kStreams)
                               : all_columns_ < 2 * line ? all_columns_
                                                         : line;
    const int64_t stream = short_side < line ? kBlockBytes / std::max<int64_t>(1, short_side) : kStream;
    const int64_t long_side = PartsOf(stream / width, kLine) * kLine;
    rows_ = down_ ? short_side : long_side, columns_ = down_ ? long_side : short_side;
  } else {
    rows_ = PartsOf(kWork / std::max(kShortRow, all_columns_), 16) * 16;
  }
  rows_ = std::clamp<int64_t>(rows_, 1, std::max<int64_t>(1, all_rows_));
  columns_ = std::clamp<int64_t>(columns_, 1, std::max<int64_t>(1, all_columns_));
  const int64_t down = PartsOf(all_rows_, rows_), across = PartsOf(all_columns_, columns_);
  count_ = down * across;
  in_line_ = down_ ? down : across;
}

int64_t PlaneBlocks::work() const { return rows_ * std::max(kShortRow, columns_); }

PlaneBlock PlaneBlocks::operator[](int64_t i) const {
  if (count_ == 1) return {0, all_rows_, 0, all_columns_};
  const int64_t line = i / in_line_, at = i % in_line_;
  const int64_t row = (down_ ? at : line) * rows_, column = (down_ ? line : at) * columns_;
  return {row, std::min(all_rows_, row + rows_), column, std::min(all_columns_, column + columns_)};
}

}  // namespace tern::cpu
