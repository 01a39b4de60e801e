#include <algorithm>
#include <cstring>

#include "kernels/cpu/byte/byte_depthwise_vnni_simd.h"
#include "kernels/cpu/byte/byte_tile.h"
#include "kernels/cpu/byte/copy_bytes.h"
#include "kernels/cpu/byte/nhwc_byte_conv.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMinWorkPerThread = 1 << 18;  // in multiply-adds
constexpr int64_t kAnyPixels = 16;              // pixels per call of ByteDepthwiseTable::any

// Contiguous blocks of channels of the same width.
struct Blocks {
  int64_t channel, count;
  int width;                                     // index of arrays in ByteDepthwiseTable
  int64_t block() const { return 16 << width; }  // channels of a block
  int64_t channels() const { return count * block(); }
};

// Calls f(blocks) for all channels, of which there must be at least 16. Blocks are as wide as a vector, which
// has `vector` bytes, or narrower if there are fewer channels. The last block ends with the last channel. It
// may overlap the block before it and may be narrower.
template <class F> void EachBlocks(int64_t channels, int vector, const F& f) {
  int widest = 0;
  while ((32 << widest) <= vector && (32 << widest) <= channels) ++widest;
  const Blocks wide{0, channels >> (4 + widest), widest};
  f(wide);
  const int64_t rest = channels - wide.channels();
  if (rest == 0) return;
  int width = widest;
  while (width > 0 && (8 << width) >= rest) --width;
  f(Blocks{channels - (16 << width), 1, width});
}

// Returns the position of channel i of a block in the order of lanes, see lanes-inl.h.
int64_t LaneOf(int64_t i, int64_t channels) { return i / 4 % 4 * (channels / 4) + i / 16 * 4 + i % 4; }

int KindOf(const ConvShape& s) {
  const ByteDepthwiseTable& table = ByteDepthwiseSimd();
  if (s.kernel[0] != 1 || s.kernel[1] != s.kernel[2] || s.stride[1] != s.stride[2] ||
      s.dilation != Spatial{1, 1, 1})
    return -1;
  for (int i = 0; i < kByteDepthwiseKinds; ++i)
    if (table.kinds[i].kernel == s.kernel[2] && table.kinds[i].stride == s.stride[2]) return i;
  return -1;
}

// Dwords of weights per channel.
int64_t WeightDwords(const ConvShape& s) {
  const int kind = KindOf(s);
  if (kind < 0) return CeilDiv(s.taps(), 4);
  const ByteDepthwiseTable::Kind& k = ByteDepthwiseSimd().kinds[kind];
  return k.rows * k.kernel * k.quads;
}

// Calls f(dword, byte, tap) for every byte of a channel's weights that is not padding.
template <class F> void EachWeight(const ConvShape& s, const F& f) {
  const int kind = KindOf(s);
  if (kind < 0) {
    for (int64_t tap = 0; tap < s.taps(); ++tap) f(tap / 4, tap % 4, tap);
    return;
  }
  const ByteDepthwiseTable::Kind& k = ByteDepthwiseSimd().kinds[kind];
  for (int64_t r = 0; r < k.rows; ++r)
    for (int64_t ky = 0; ky < k.kernel; ++ky)
      for (int64_t kx = 0; kx < k.kernel; ++kx) {
        const int64_t row = r * k.stride + ky;  // the input row
        f((r * k.kernel + kx) * k.quads + row / 4, row % 4, ky * k.kernel + kx);
      }
}

template <class T> void PackAll(const ConvShape& s, const ByteWeights& w, int8_t* to) {
  const auto* data = static_cast<const T*>(w.data);
  const auto* zeros = static_cast<const T*>(w.zero);
  const auto weight = [&](int64_t channel, int64_t tap) {
    return data[channel * s.taps() + tap] - (zeros ? zeros[w.zero_per_column ? channel : 0] : 0);
  };
  auto* sums = reinterpret_cast<int32_t*>(to);
  for (int64_t c = 0; c < s.channels; ++c) {
    sums[c] = 0;
    for (int64_t tap = 0; tap < s.taps(); ++tap) sums[c] += weight(c, tap);
  }
  auto* block_at = const_cast<int8_t*>(BytePanels(to, s.channels));
  EachBlocks(s.channels, ByteDepthwiseSimd().width, [&](const Blocks& b) {
    const int64_t channels = b.block(), bytes = WeightDwords(s) * channels * 4;
    for (int64_t c = b.channel; c < b.channel + b.channels(); c += channels, block_at += bytes) {
      std::memset(block_at, 0, static_cast<size_t>(bytes));
      EachWeight(s, [&](int64_t dword, int64_t byte, int64_t tap) {
        for (int64_t i = 0; i < channels; ++i)
          block_at[(dword * channels + LaneOf(i, channels)) * 4 + byte] =
              static_cast<int8_t>(weight(c + i, tap));
      });
    }
  });
}

// The channels of all blocks.
int64_t BlockChannels(int64_t channels) {
  int64_t total = 0;
  EachBlocks(channels, ByteDepthwiseSimd().width, [&](const Blocks& b) { total += b.channels(); });
  return total;
}

// Writes bias and scale of all blocks in the order of lanes.
void OrderLanes(const ByteEpilogue& e, int64_t channels, int32_t* bias, float* scale) {
  EachBlocks(channels, ByteDepthwiseSimd().width, [&](const Blocks& b) {
    for (int64_t i = 0; i < b.channels(); ++i) {
      const int64_t c = b.channel + i, lane = i / b.block() * b.block() + LaneOf(i % b.block(), b.block());
      bias[lane] = e.bias ? e.bias[c] : 0;
      scale[lane] = e.scale ? e.scale[c] : 0;
    }
    bias += b.channels(), scale += b.channels();
  });
}

const char* At(const void* p, int64_t bytes) { return static_cast<const char*>(p) + bytes; }
char* At(void* p, int64_t bytes) { return static_cast<char*>(p) + bytes; }

}  // namespace

int64_t NhwcByteDepthwise::PackedSize(const ConvShape& s) {
  if (s.channels < kMinChannels) return NhwcByteConv::PackedSize(s);
  return BytePanels(nullptr, s.channels) - static_cast<const int8_t*>(nullptr) +
         BlockChannels(s.channels) * WeightDwords(s) * 4;
}

void NhwcByteDepthwise::Pack(const ConvShape& s, const ByteWeights& w, int8_t* to, const Workers& workers) {
  if (s.channels < kMinChannels) return NhwcByteConv::Pack(s, w, to, workers);
  if (w.type == DType::kI8)
    PackAll<int8_t>(s, w, to);
  else
    PackAll<uint8_t>(s, w, to);
}

NhwcByteDepthwise::NhwcByteDepthwise(const ConvShape& shape, DType x)
    : shape_(shape), flip_(FlipOf(x)), kind_(KindOf(shape)), weights_(4 * WeightDwords(shape)) {
  if (shape.channels < kMinChannels) conv_ = NhwcByteConv(shape, x);
}

int64_t NhwcByteDepthwise::RowsAtOnce() const {
  return kind_ < 0 ? 1 : ByteDepthwiseSimd().kinds[kind_].rows;
}

int64_t NhwcByteDepthwise::Pointers() const {
  const ConvShape& s = shape_;
  if (kind_ < 0) return kAnyPixels * RoundUp(s.taps(), 4);
  return s.span(1, RowsAtOnce()) * s.span(2, s.output[2]);
}

// Writes pointers to all pixels that the windows of these lines read, row by row.
void NhwcByteDepthwise::WindowPixels(const Lines& lines, const Memory& memory) const {
  const ConvShape& s = shape_;
  const int64_t rows = s.span(1, lines.count), columns = s.span(2, s.output[2]);
  const int64_t z = lines.plane * s.stride[0] - s.begin[0];
  const int64_t left = std::clamp<int64_t>(s.begin[2], 0, columns),
                right = std::clamp<int64_t>(s.input[2] + s.begin[2], left, columns);
  const uint8_t** to = memory.pixels;
  for (int64_t r = 0; r < rows; ++r, to += columns) {
    const int64_t y = lines.first * s.stride[1] + r - s.begin[1];
    if (z < 0 || z >= s.input[0] || y < 0 || y >= s.input[1]) {
      std::fill(to, to + columns, memory.zeros);
      continue;
    }
    std::fill(to, to + left, memory.zeros);
    const uint8_t* row =
        memory.x + (((lines.image * s.input[0] + z) * s.input[1] + y) * s.input[2] - s.begin[2]) * s.channels;
    for (int64_t i = left; i < right; ++i) to[i] = row + i * s.channels;
    std::fill(to + right, to + columns, memory.zeros);
  }
}

// Writes pointers to the pixels of windows [first, first + count) of a line, window by window and tap by tap.
void NhwcByteDepthwise::AnyPixels(const Lines& lines, int64_t first, int64_t count,
                                  const Memory& memory) const {
  const ConvShape& s = shape_;
  const uint8_t** to = memory.pixels;
  for (int64_t i = first; i < first + count; ++i) {
    const uint8_t** end = to + RoundUp(s.taps(), 4);
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        const int64_t z = lines.plane * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                      y = lines.first * s.stride[1] + ky * s.dilation[1] - s.begin[1],
                      left = i * s.stride[2] - s.begin[2];
        const bool inside = z >= 0 && z < s.input[0] && y >= 0 && y < s.input[1];
        const int64_t row = ((lines.image * s.input[0] + z) * s.input[1] + y) * s.input[2];
        for (int64_t kx = 0; kx < s.kernel[2]; ++kx) {
          const int64_t at = left + kx * s.dilation[2];
          *to++ = inside && at >= 0 && at < s.input[2] ? memory.x + (row + at) * s.channels : memory.zeros;
        }
      }
    while (to < end) *to++ = memory.zeros;
  }
}

void NhwcByteDepthwise::RunLines(const NhwcByteArgs& args, const ByteEpilogue& e, const Lines& lines,
                                 const Memory& memory) const {
  const ConvShape& s = shape_;
  const ByteDepthwiseTable& table = ByteDepthwiseSimd();
  const int64_t width = OutputWidth(e);
  const int64_t pixel0 =
      ((lines.image * s.output[0] + lines.plane) * s.output[1] + lines.first) * s.output[2];
  ByteDepthwisePart p;
  p.x_row = s.span(2, s.output[2]), p.groups = CeilDiv(s.taps(), 4), p.epilogue = &e;
  p.rounds = memory.rounds, p.to = SaturationOf(e.to);
  p.y_pixel = args.pixel_stride ? args.pixel_stride : s.channels, p.y_row = s.output[2] * p.y_pixel;
  p.residual_image_row = s.output[2] * e.residual_row;
  if (kind_ >= 0) WindowPixels(lines, memory);
  const int64_t step = kind_ >= 0 ? s.output[2] : kAnyPixels;
  for (int64_t at = 0; at < s.output[2]; at += step) {
    p.pixels = std::min(step, s.output[2] - at);
    p.y = At(args.y, (pixel0 + at) * p.y_pixel * width);
    if (const void* residual = ResidualOf(e))
      p.residual = At(residual, (pixel0 + at) * e.residual_row * width);
    p.x = memory.pixels;
    if (kind_ < 0) AnyPixels(lines, at, p.pixels, memory);
    p.w = BytePanels(args.w, s.channels), p.bias = memory.bias, p.scale = memory.scale;
    EachBlocks(s.channels, table.width, [&](const Blocks& b) {
      p.channel = b.channel, p.blocks = b.count, p.block_bytes = weights_ * b.block();
      (kind_ >= 0 ? table.kinds[kind_].run[b.width][lines.count] : table.any[b.width])(p);
      p.w += weights_ * b.channels(), p.bias += b.channels(), p.scale += b.channels();
    });
  }
}

// Bytes of the copy of an i8 image.
size_t NhwcByteDepthwise::ImageBytes() const {
  return flip_ ? Aligned(static_cast<size_t>(shape_.batch * shape_.input_size() * shape_.channels)) : 0;
}

size_t NhwcByteDepthwise::Scratch(int threads) const {
  const ConvShape& s = shape_;
  if (s.channels < kMinChannels) return conv_.Scratch(threads);
  const auto lanes = static_cast<size_t>(BlockChannels(s.channels));
  return ImageBytes() + Aligned(static_cast<size_t>(s.channels)) +
         Aligned(lanes * (sizeof(int32_t) + sizeof(float))) +
         static_cast<size_t>(Pointers()) * sizeof(const uint8_t*) * static_cast<size_t>(threads);
}

void NhwcByteDepthwise::Run(const NhwcByteArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (s.channels < kMinChannels) return conv_.Run(args, scratch, workers);
  if (s.batch * s.output_size() == 0) return;
  ByteEpilogue e = args.epilogue;
  if (e.residual_row == 0) e.residual_row = s.channels;
  auto* image = static_cast<uint8_t*>(scratch);
  uint8_t* zeros = image + ImageBytes();
  std::memset(zeros, static_cast<uint8_t>(args.x_zero) ^ flip_, static_cast<size_t>(s.channels));
  const int64_t lanes = BlockChannels(s.channels);
  auto* bias = reinterpret_cast<int32_t*>(zeros + Aligned(static_cast<size_t>(s.channels)));
  auto* scale = reinterpret_cast<float*>(bias + lanes);
  OrderLanes(e, s.channels, bias, scale);
  auto** pixels = reinterpret_cast<const uint8_t**>(
      reinterpret_cast<char*>(bias) +
      Aligned(static_cast<size_t>(lanes) * (sizeof(int32_t) + sizeof(float))));
  const auto* x = static_cast<const uint8_t*>(args.x);
  if (flip_) {
    workers.ParallelFor(
        s.batch * s.input_size() * s.channels, kMinWorkPerThread,
        [&](int64_t begin, int64_t end) { CopyBytes(x + begin, end - begin, flip_, image + begin); });
    x = image;
  }
  const bool rounds = e.residual_mode == ByteResidual::kNone && RoundsInRegisters(e, s.channels, s.taps());
  const int64_t rows = RowsAtOnce(), groups = CeilDiv(s.output[1], rows), pointers = Pointers();
  const int64_t grain =
      std::max<int64_t>(1, kMinWorkPerThread / (rows * s.output[2] * s.channels * s.taps()));
  workers.ParallelFor(s.batch * s.output[0] * groups, grain, [&](int64_t begin, int64_t end, int worker) {
    const Memory memory{x, zeros, bias, scale, rounds, pixels + worker * pointers};
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % groups * rows, plane = i / groups;
      RunLines(args, e,
               {plane / s.output[0], plane % s.output[0], first, std::min(rows, s.output[1] - first)},
               memory);
    }
  });
}

}  // namespace tern::cpu
