#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "kernels/cpu/nbits/nbits.h"
#include "kernels/cpu/nbits/nbits_simd.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

int64_t Lines(int64_t bytes) { return RoundUp(bytes, 64); }

// Returns element i, plus half of the range if elements are signed.
uint32_t StoredAt(const uint8_t* q, int bits, bool is_signed, int64_t i) {
  if (bits == 8) return static_cast<uint32_t>(q[i]) ^ (is_signed ? 128u : 0u);
  const uint32_t nibble = (q[i / 2] >> (i % 2 * 4)) & 15u;
  return nibble ^ (is_signed ? 8u : 0u);
}

float ScaleAt(const NBitsSource& s, int64_t i) {
  if (s.scale_type == DType::kF32) return static_cast<const float*>(s.scale)[i];
  const uint16_t bits = static_cast<const uint16_t*>(s.scale)[i];
  return s.scale_type == DType::kF16 ? HalfToFloat(bits) : BFloatToFloat(bits);
}

// Writes the scale and the zero point of one block of column n to column c of a record.
void PackScale(const NBitsLayout& l, const NBitsSource& s, int64_t block, int64_t n, int64_t c,
               uint8_t* record) {
  const int64_t from = block * s.scale_k + n * s.scale_n;
  const float scale = ScaleAt(s, from);
  if (l.f16_scales) {
    const auto bits = static_cast<uint16_t>(EncodeFloat(DType::kF16, scale));
    std::memcpy(record + 2 * c, &bits, sizeof bits);
  } else {
    std::memcpy(record + 4 * c, &scale, sizeof scale);
  }
  if (l.has_zeros)
    record[l.zeros_at() + c] = static_cast<uint8_t>(StoredAt(s.zero, l.bits, s.is_signed, from));
}

// Writes column n of the weights to column c of a panel.
void PackColumn(const NBitsLayout& l, const NBitsSource& s, int64_t n, int64_t c, int64_t columns,
                uint8_t* panel) {
  const int64_t block = l.block ? l.block : l.depth();
  for (int64_t b = 0; b < l.blocks(); ++b) {
    uint8_t* record = panel + b * l.record_bytes();
    PackScale(l, s, b, n, c, record);
    uint8_t* data = record + l.data_at() + 4 * c;
    const int64_t k0 = b * block, count = std::min(block, l.k - k0);
    for (int64_t k = 0; k < count; ++k) {
      const uint32_t q = StoredAt(s.q, l.bits, s.is_signed, (k0 + k) * s.k_stride + n * s.n_stride);
      if (l.bits == 8)
        data[k / 4 * 4 * columns + k % 4] = static_cast<uint8_t>(q);
      else
        data[k / 8 * 4 * columns + k % 4] |= static_cast<uint8_t>(q << (k % 8 / 4 * 4));
    }
  }
}

}  // namespace

int64_t NBitsLayout::panels() const { return CeilDiv(n, NBitsSimd().columns); }

int64_t NBitsLayout::zeros_at() const { return Lines(NBitsSimd().columns * (f16_scales ? 2 : 4)); }

int64_t NBitsLayout::data_at() const { return zeros_at() + (has_zeros ? Lines(NBitsSimd().columns) : 0); }

int64_t NBitsLayout::record_bytes() const {
  return Lines(data_at() + (block ? block : depth()) * bits / 8 * NBitsSimd().columns);
}

int64_t NBitsLayout::panel_bytes() const {
  if (blocks() == 0) return 0;
  const int64_t last = depth() - (blocks() - 1) * block;
  return (blocks() - 1) * record_bytes() + Lines(data_at() + last * bits / 8 * NBitsSimd().columns);
}

void PackNBits(const NBitsLayout& layout, const NBitsSource& source, uint8_t* packed,
               const Workers& workers) {
  const int64_t columns = NBitsSimd().columns;
  workers.ParallelFor(layout.panels(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      uint8_t* to = packed + panel * layout.panel_bytes();
      std::memset(to, 0, static_cast<size_t>(layout.panel_bytes()));
      const int64_t n0 = panel * columns, count = std::min(columns, layout.n - n0);
      for (int64_t c = 0; c < count; ++c) PackColumn(layout, source, n0 + c, c, columns, to);
    }
  });
}

}  // namespace tern::cpu
