// Packs the weights of 8-bit convolutions.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/byte/byte_pack.h"
#include "kernels/cpu/byte/nhwc_byte_conv.h"
#include "kernels/cpu/byte/nhwc_units.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

int64_t SumsBytes(const ConvShape& s) {
  return static_cast<int64_t>(Aligned(static_cast<size_t>(s.maps) * sizeof(int32_t)));
}

// Writes the weights of one output channel into column `column` of a panel, and returns their sum. `first`
// is the index of the channel's first input channel in the merged group.
template <class T>
int32_t PackMap(const ByteTileTable& table, const ConvShape& s, const NhwcUnits& units, const T* w, int zero,
                int64_t first, int64_t column, int8_t* panel) {
  const int64_t channels = s.group_channels(), taps = s.taps(), pixels = taps / units.count;
  const int64_t per_dword = 4 / table.element_bytes;
  int32_t sum = 0;
  for (int64_t unit = 0; unit < units.count; ++unit)
    for (int64_t i = 0; i < pixels; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        const int v = w[c * taps + unit * pixels + i] - zero;
        const int64_t at = i * units.channels + first + c;
        table.StoreWeight(panel, unit * units.dwords * per_dword + at, column, v);
        sum += v;
      }
  return sum;
}

template <class T>
void PackAll(const ConvShape& s, const ByteWeights& w, int8_t* to, const Workers& workers) {
  const ByteTileTable& table = ByteTileSimd();
  const int64_t columns = table.columns;
  const NhwcUnits units(s);
  const int64_t maps = s.group_maps() * units.joined, panels = CeilDiv(maps, columns),
                size = table.PanelBytes(units.count * units.dwords), weights = s.group_channels() * s.taps();
  auto* sums = reinterpret_cast<int32_t*>(to);
  const auto* zeros = static_cast<const T*>(w.zero);
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, size));
  workers.ParallelFor(s.group / units.joined * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n0 = i % panels * columns, n = std::min(columns, maps - n0);
      int8_t* panel = to + SumsBytes(s) + i * size;
      std::memset(panel, 0, static_cast<size_t>(size));
      for (int64_t j = 0; j < n; ++j) {
        const int64_t map = i / panels * maps + n0 + j,
                      first = (n0 + j) / s.group_maps() * s.group_channels();
        const int zero = zeros ? zeros[w.zero_per_column ? map : 0] : 0;
        sums[map] =
            PackMap(table, s, units, static_cast<const T*>(w.data) + map * weights, zero, first, j, panel);
      }
    }
  });
}

}  // namespace

NhwcUnits::NhwcUnits(const ConvShape& s) {
  joined = JoinedGroups(s, ByteTileSimd().columns / 2);
  by_rows = s.group == joined && s.dilation[2] == 1;
  channels = s.group_channels() * joined;
  count = by_rows ? s.kernel[0] * s.kernel[1] : s.taps();
  elements = by_rows ? s.kernel[2] * channels : channels;
  dwords = ByteTileSimd().Dwords(elements);
}

int64_t NhwcByteConv::PackedSize(const ConvShape& s) {
  if (s.channels == 0 || s.maps == 0) return SumsBytes(s);
  const NhwcUnits units(s);
  const ByteTileTable& table = ByteTileSimd();
  const int64_t panels = CeilDiv(s.group_maps() * units.joined, table.columns);
  return SumsBytes(s) + s.group / units.joined * panels * table.PanelBytes(units.count * units.dwords);
}

void NhwcByteConv::Pack(const ConvShape& s, const ByteWeights& w, int8_t* to, const Workers& workers) {
  std::memset(to, 0, static_cast<size_t>(SumsBytes(s)));
  if (s.channels == 0 || s.maps == 0) return;
  if (w.type == DType::kI8)
    PackAll<int8_t>(s, w, to, workers);
  else
    PackAll<uint8_t>(s, w, to, workers);
}

}  // namespace tern::cpu
