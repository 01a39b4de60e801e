#include "kernels/cpu/byte/byte_pack.h"

#include <cstring>

namespace tern::cpu {
namespace {

template <class T>
void Pack(const ByteTileTable& table, const ByteWeights& w, int64_t row, int64_t column, int64_t k,
          int64_t n0, int64_t n, int8_t* to, int32_t* sums) {
  std::memset(to, 0, static_cast<size_t>(table.PanelBytes(table.Dwords(k))));
  for (int64_t j = 0; j < n; ++j) {
    const T* from = static_cast<const T*>(w.data) + (n0 + j) * column;
    const int zero = w.zero ? static_cast<const T*>(w.zero)[w.zero_per_column ? n0 + j : 0] : 0;
    int32_t sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      const int v = from[i * row] - zero;
      table.StoreWeight(to, i, j, v);
      sum += v;
    }
    sums[j] += sum;
  }
}

}  // namespace

void PackBytePanel(const ByteTileTable& table, const ByteWeights& w, int64_t row, int64_t column, int64_t k,
                   int64_t n0, int64_t n, int8_t* to, int32_t* sums) {
  if (w.type == DType::kI8)
    Pack<int8_t>(table, w, row, column, k, n0, n, to, sums);
  else
    Pack<uint8_t>(table, w, row, column, k, n0, n, to, sums);
}

}  // namespace tern::cpu
