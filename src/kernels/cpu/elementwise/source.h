// One operand of an elementwise loop, converted to stride 1 and to the compute type.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernels/cpu/elementwise/tiles.h"
#include "kernels/cpu/support/width.h"

namespace tern::cpu {

// The elements of one operand that one row of the loop reads. They are contiguous, or one scalar, which is
// repeated in a tile.
class Source {
 public:
  Source(DType type, const void* data, int64_t at, bool has_stride, int64_t n)
      : type_(type), has_stride_(has_stride) {
    from_ = static_cast<const char*>(data) + at * WidthOf(type);
    if (has_stride && !IsHalfPrecision(type)) return;
    if (!has_stride) FillTile(std::min(n, kTile));
  }
  // Returns `count` elements that start at index i, in the compute type. The elements are valid until the
  // next call. If the operand is a scalar, f16 or bf16, `count` must be at most kTile.
  const void* At(int64_t i, int64_t count) {
    if (!has_stride_) return tile_;
    const char* p = from_ + i * WidthOf(type_);
    if (!IsHalfPrecision(type_)) return p;
    Widen(type_, reinterpret_cast<const uint16_t*>(p), reinterpret_cast<float*>(tile_), count);
    return tile_;
  }

 private:
  void FillTile(int64_t n) {
    if (IsHalfPrecision(type_)) {
      float v;
      Widen(type_, reinterpret_cast<const uint16_t*>(from_), &v, 1);
      std::fill_n(reinterpret_cast<float*>(tile_), n, v);
    } else {
      WithWidth(WidthOf(type_), [&](auto v) {
        std::memcpy(&v, from_, sizeof v);
        std::fill_n(reinterpret_cast<decltype(v)*>(tile_), n, v);
      });
    }
  }
  DType type_;
  bool has_stride_;
  const char* from_;
  alignas(64) char tile_[kTile * 8];
};

}  // namespace tern::cpu
