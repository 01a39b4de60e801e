#include "kernels/cpu/byte/byte_pool.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/cpu/byte/byte_pool_simd.h"
#include "kernels/cpu/byte/copy_bytes.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMinWorkPerThread = 1 << 17;  // in bytes read
constexpr int64_t kChannels = 512;              // channels whose sums are computed at once
constexpr int64_t kMaxPixels = int64_t{1} << 23;

}  // namespace

void NhwcByteMaxPool(const ConvShape& s, DType type, const void* x, void* y, const Workers& workers,
                     int64_t pixel_stride) {
  const int64_t work = std::max<int64_t>(1, s.output[2] * s.channels * s.taps());
  const int64_t stride = pixel_stride ? pixel_stride : s.channels;
  const int64_t steps[3] = {s.input[1] * s.input[2] * s.channels, s.input[2] * s.channels, s.channels};
  const uint8_t flip = FlipOf(type), lowest = flip;  // lowest is 0 for u8 and -128 for i8
  const BytePoolTable& table = BytePoolSimd();
  if (s.channels == 0) return;
  // Adds the taps of the window at output position `at` of an axis that are inside the image.
  const auto add = [&](ByteWindow& w, size_t axis, int64_t at) {
    const int64_t start = at * s.stride[axis] - s.begin[axis];
    const Inside inside = InsideOf(start, s.dilation[axis], s.input[axis], s.kernel[axis]);
    w.count[axis] = std::max<int64_t>(0, inside.last - inside.first);
    w.step[axis] = s.dilation[axis] * steps[axis];
    w.first += (start + inside.first * s.dilation[axis]) * steps[axis];
  };
  const auto run_line = [&](int64_t line) {
    ByteWindow lines;
    lines.first =
        static_cast<const uint8_t*>(x) + line / (s.output[0] * s.output[1]) * s.input_size() * s.channels;
    add(lines, 0, line / s.output[1] % s.output[0]);
    add(lines, 1, line % s.output[1]);
    auto* to = static_cast<uint8_t*>(y) + line * s.output[2] * stride;
    for (int64_t i = 0; i < s.output[2]; ++i, to += stride) {
      ByteWindow w = lines;
      add(w, 2, i);
      if (w.count[0] * w.count[1] * w.count[2] > 0)
        table.max(w, s.channels, flip, to);
      else
        std::memset(to, lowest, static_cast<size_t>(s.channels));
    }
  };
  workers.ParallelFor(s.batch * s.output[0] * s.output[1], std::max<int64_t>(1, kMinWorkPerThread / work),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t line = begin; line < end; ++line) run_line(line);
                      });
}

void NhwcByteMeans(const ByteOperand& x, int64_t images, int64_t pixels, int64_t channels, float multiplier,
                   const ByteRange& to, void* y, const Workers& workers) {
  const int64_t parts = (channels + kChannels - 1) / kChannels;
  const uint8_t flip = FlipOf(x.type);
  const auto zero = static_cast<int64_t>(x.zero) + flip;
  const int64_t grain = std::max<int64_t>(1, kMinWorkPerThread / std::max<int64_t>(1, pixels * kChannels));
  workers.ParallelFor(images * parts, grain, [&](int64_t begin, int64_t end) {
    std::array<int32_t, kChannels> part;
    std::array<int64_t, kChannels> total;
    std::array<float, kChannels> sums;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / parts, c = i % parts * kChannels, count = std::min(kChannels, channels - c);
      total.fill(-zero * pixels);
      for (int64_t pixel = 0; pixel < pixels; pixel += kMaxPixels) {
        const auto* from = static_cast<const uint8_t*>(x.data) + (image * pixels + pixel) * channels + c;
        BytePoolSimd().sum(from, channels, std::min(kMaxPixels, pixels - pixel), count, flip, part.data());
        for (int64_t j = 0; j < count; ++j) total[static_cast<size_t>(j)] += part[static_cast<size_t>(j)];
      }
      for (int64_t j = 0; j < count; ++j)
        sums[static_cast<size_t>(j)] = static_cast<float>(total[static_cast<size_t>(j)]);
      IntegerSimd().rescale(to, sums.data(), 0, multiplier, static_cast<uint8_t*>(y) + image * channels + c,
                            count);
    }
  });
}

}  // namespace tern::cpu
