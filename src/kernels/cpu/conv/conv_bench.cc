#include "kernels/cpu/conv/conv_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "core/buffer.h"
#include "kernels/cpu/byte/nhwc_byte_conv.h"
#include "kernels/cpu/conv/depthwise_nhwc.h"
#include "kernels/cpu/peak/peak.h"

namespace tern::cpu {
namespace {

struct Layer {
  int64_t channels, maps, group, size, kernel, stride, dilation = 1;
};
// The first layer, 3x3 and 1x1 layers of ResNet-50, grouped layers, then layers of MobileNet v2.
constexpr Layer kLayers[] = {
    {3, 64, 1, 224, 7, 2},       {64, 64, 1, 56, 3, 1},     {128, 128, 1, 28, 3, 1},
    {256, 256, 1, 14, 3, 1},     {512, 512, 1, 7, 3, 1},    {128, 128, 1, 56, 3, 2},
    {64, 256, 1, 56, 1, 1},      {256, 64, 1, 56, 1, 1},    {256, 512, 1, 56, 1, 2},
    {1024, 2048, 1, 14, 1, 2},   {512, 2048, 1, 7, 1, 1},   {128, 128, 32, 56, 3, 1},
    {512, 512, 32, 14, 3, 1},    {3, 32, 1, 224, 3, 2},     {32, 16, 1, 112, 1, 1},
    {16, 96, 1, 112, 1, 1},      {96, 24, 1, 56, 1, 1},     {24, 144, 1, 56, 1, 1},
    {384, 64, 1, 14, 1, 1},      {960, 320, 1, 7, 1, 1},    {32, 32, 32, 112, 3, 1},
    {96, 96, 96, 112, 3, 2},     {144, 144, 144, 56, 3, 1}, {384, 384, 384, 14, 3, 1},
    {960, 960, 960, 7, 3, 1},    {240, 240, 240, 28, 5, 2}, {480, 480, 480, 14, 5, 1},
    {960, 960, 960, 65, 3, 1, 2}};

ConvShape ShapeOf(const Layer& l) {
  ConvShape s;
  s.channels = l.channels, s.maps = l.maps, s.group = l.group;
  s.input = {1, l.size, l.size}, s.kernel = {1, l.kernel, l.kernel}, s.stride = {1, l.stride, l.stride};
  s.dilation = {1, l.dilation, l.dilation};
  const int64_t pad = l.dilation * (l.kernel / 2);
  s.begin = {0, pad, pad};
  for (size_t i = 1; i < 3; ++i)
    s.output[i] = (l.size + 2 * pad - l.dilation * (l.kernel - 1) - 1) / l.stride + 1;
  return s;
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Records the shortest time of a run.
class Clock {
 public:
  template <class F> void Round(const F& run) {
    constexpr double kRoundSeconds = 0.01;
    const double end = Now() + kRoundSeconds;
    for (double from = Now(); from < end;) {
      run();
      const double to = Now();
      best_ = std::min(best_, to - from);
      from = to;
    }
  }
  double best() const { return best_; }

 private:
  double best_ = 1e9;
};

template <class Work> class F32Conv {
 public:
  F32Conv(const ConvShape& s, int threads) : workers_(threads), work_(s) {
    const std::vector<float> w(static_cast<size_t>(s.maps * s.group_channels() * s.taps()), 0.01f);
    w_ = Buffer::Allocate(static_cast<size_t>(Work::PackedSize(s)) * 4 + 64);
    Work::Pack(s, w.data(), reinterpret_cast<float*>(w_.data()), workers_);
    x_ = Buffer::Allocate(static_cast<size_t>(s.input_size() * s.channels) * 4);
    y_ = Buffer::Allocate(static_cast<size_t>(s.output_size() * s.maps) * 4);
    std::fill(x_.data(), x_.data() + x_.size(), std::byte{0});
    bias_.assign(static_cast<size_t>(s.maps), 1);
    scratch_ = Buffer::Allocate(work_.Scratch(threads) + 64);
    args_.x = reinterpret_cast<const float*>(x_.data()), args_.w = reinterpret_cast<const float*>(w_.data());
    args_.y = reinterpret_cast<float*>(y_.data());
    args_.tile.bias = bias_.data(), args_.tile.clip = true, args_.tile.high = 6;
  }
  void Run() const { work_.Run(args_, scratch_.data(), workers_); }

 private:
  Workers workers_;
  Work work_;
  Buffer x_, w_, y_, scratch_;
  std::vector<float> bias_;
  NhwcArgs args_;
};

template <class Work> class ByteConv {
 public:
  ByteConv(const ConvShape& s, int threads) : workers_(threads), work_(s) {
    const std::vector<int8_t> w(static_cast<size_t>(s.maps * s.group_channels() * s.taps()), 3);
    w_ = Buffer::Allocate(static_cast<size_t>(Work::PackedSize(s)) + 64);
    auto* packed = reinterpret_cast<int8_t*>(w_.data());
    Work::Pack(s, {w.data()}, packed, workers_);
    x_ = Buffer::Allocate(static_cast<size_t>(s.input_size() * s.channels));
    y_ = Buffer::Allocate(static_cast<size_t>(s.output_size() * s.maps));
    std::fill(x_.data(), x_.data() + x_.size(), std::byte{7});
    scale_.assign(static_cast<size_t>(s.maps), 1e-3f);
    scratch_ = Buffer::Allocate(work_.Scratch(threads) + 64);
    args_.x = x_.data(), args_.w = packed, args_.y = y_.data();
    args_.epilogue.scale = scale_.data(), args_.epilogue.bias = WeightSums(packed);
  }
  void Run() const { work_.Run(args_, scratch_.data(), workers_); }

 private:
  Workers workers_;
  Work work_;
  Buffer x_, w_, y_, scratch_;
  std::vector<float> scale_;
  NhwcByteArgs args_;
};

template <class F32, class Bytes> void Print(const Layer& l, int threads, int rounds, const PeakRate& peak) {
  const ConvShape s = ShapeOf(l);
  const F32 f32(s, threads);
  const Bytes bytes(s, threads);
  Clock clocks[2];
  for (int i = 0; i < rounds; ++i) {
    clocks[0].Round([&] { f32.Run(); });
    clocks[1].Round([&] { bytes.Run(); });
  }
  const double ops = 2.0 * static_cast<double>(s.output_size() * s.maps) *
                     static_cast<double>(s.group_channels() * s.taps()) / 1e9;
  const double f32_rate = ops / clocks[0].best(), int8_rate = ops / clocks[1].best();
  std::printf(
      "%4lld -> %4lld /%-3lld %3lldx%lld/%lld\tf32 %8.1f us %6.1f GFLOP/s %3.0f %%\tint8 %8.1f us %6.1f GOP/s",
      static_cast<long long>(l.channels), static_cast<long long>(l.maps), static_cast<long long>(l.group),
      static_cast<long long>(l.size), static_cast<long long>(l.kernel), static_cast<long long>(l.stride),
      clocks[0].best() * 1e6, f32_rate, 100 * f32_rate / peak.f32, clocks[1].best() * 1e6, int8_rate);
  if (peak.int8 > 0) std::printf(" %3.0f %%", 100 * int8_rate / peak.int8);
  std::printf("\t%.2fx\n", clocks[0].best() / clocks[1].best());
  std::fflush(stdout);
}

}  // namespace

void PrintConvs(int threads, int rounds) {
  const PeakRate peak = MeasurePeak(Workers(threads));
  for (const Layer& l : kLayers)
    if (l.group == l.channels)
      Print<F32Conv<NhwcDepthwise>, ByteConv<NhwcByteDepthwise>>(l, threads, rounds, peak);
    else
      Print<F32Conv<NhwcConv>, ByteConv<NhwcByteConv>>(l, threads, rounds, peak);
}

}  // namespace tern::cpu
