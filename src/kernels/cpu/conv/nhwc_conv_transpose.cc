#include "kernels/cpu/conv/nhwc_conv_transpose.h"

#include <algorithm>

namespace tern::cpu {
namespace {

constexpr int64_t kMaxPhases = 64;
// Maximum ratio of the number of pixels of a window's bounding box to the number of its taps.
constexpr double kMaxReach = 64;

// Calls f(tap) for each phase. The phase has the taps tap, tap + stride, tap + 2 * stride, … along each axis.
template <class F> void EachPhase(const ConvShape& s, const F& f) {
  Spatial tap;
  for (tap[0] = 0; tap[0] < s.stride[0]; ++tap[0])
    for (tap[1] = 0; tap[1] < s.stride[1]; ++tap[1])
      for (tap[2] = 0; tap[2] < s.stride[2]; ++tap[2]) f(tap);
}

// Returns the shape of a phase's kernel. A phase without taps gets one zero tap.
ConvShape KernelOf(const ConvShape& s, const Spatial& tap) {
  ConvShape phase = s;
  phase.stride = {1, 1, 1};
  for (size_t i = 0; i < 3; ++i)
    phase.kernel[i] = std::max<int64_t>(1, (s.kernel[i] - tap[i] + s.stride[i] - 1) / s.stride[i]);
  return phase;
}

// Writes the weights of a phase as weights of a convolution, [M, C / group, kernel…], with taps in reverse
// order.
void WeightsOf(const ConvShape& s, const Spatial& tap, const ConvShape& phase, const float* w, float* to) {
  const int64_t maps = s.group_maps(), channels = s.group_channels();
  for (int64_t map = 0; map < s.maps; ++map)
    for (int64_t c = 0; c < channels; ++c) {
      const float* from = w + ((map / maps * channels + c) * maps + map % maps) * s.taps();
      Spatial t;
      for (t[0] = phase.kernel[0]; t[0]-- > 0;)
        for (t[1] = phase.kernel[1]; t[1]-- > 0;)
          for (t[2] = phase.kernel[2]; t[2]-- > 0;) {
            Spatial k;
            bool has_tap = true;
            for (size_t i = 0; i < 3; ++i) k[i] = tap[i] + t[i] * s.stride[i], has_tap &= k[i] < s.kernel[i];
            *to++ = has_tap ? from[(k[0] * s.kernel[1] + k[1]) * s.kernel[2] + k[2]] : 0.f;
          }
    }
}

}  // namespace

bool NhwcConvTranspose::Fits(const ConvShape& s) {
  double reach = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (s.stride[i] > 1 && s.dilation[i] > 1) return false;
    const double taps = static_cast<double>(std::max<int64_t>(1, s.kernel[i]));
    reach *= ((taps - 1) * static_cast<double>(s.dilation[i]) + 1) / taps;
  }
  return reach <= kMaxReach && s.stride[0] <= kMaxPhases && s.stride[1] <= kMaxPhases &&
         s.stride[2] <= kMaxPhases && s.stride[0] * s.stride[1] * s.stride[2] <= kMaxPhases;
}

int64_t NhwcConvTranspose::PackedSize(const ConvShape& s) {
  int64_t size = 0;
  EachPhase(s, [&](const Spatial& tap) { size += NhwcConv::PackedSize(KernelOf(s, tap)); });
  return size;
}

void NhwcConvTranspose::Pack(const ConvShape& s, const float* w, float* to, const Workers& workers) {
  std::vector<float> weights;
  EachPhase(s, [&](const Spatial& tap) {
    const ConvShape phase = KernelOf(s, tap);
    weights.resize(static_cast<size_t>(phase.maps * phase.group_channels() * phase.taps()));
    WeightsOf(s, tap, phase, w, weights.data());
    NhwcConv::Pack(phase, weights.data(), to, workers);
    to += NhwcConv::PackedSize(phase);
  });
}

// Along an axis, y[o] is the sum of x[(o + begin - k * dilation) / stride] * w[k] over the taps k for which
// the division is exact. The stride or the dilation is 1. Let o + begin = q * stride + tap. Then o belongs to
// the phase of `tap`, and y[o] is the sum of x[q - j * dilation] * w[tap + j * stride] over j. q0 is the q of
// the first result of the phase.
NhwcConvTranspose::NhwcConvTranspose(const ConvShape& s) {
  const int64_t pixel = s.maps, row = s.output[2] * pixel, plane = s.output[1] * row;
  const Spatial step{plane, row, pixel};
  int64_t weights = 0;
  EachPhase(s, [&](const Spatial& tap) {
    ConvShape phase = KernelOf(s, tap);
    NhwcStrides strides{0, s.output[0] * plane, s.stride[0] * plane, s.stride[1] * row, s.stride[2] * pixel};
    for (size_t i = 0; i < 3; ++i) {
      const int64_t offset = s.begin[i] - tap[i];  // q0 is offset / stride, rounded up
      const int64_t q0 = offset > 0 ? (offset + s.stride[i] - 1) / s.stride[i] : -(-offset / s.stride[i]);
      const int64_t first = q0 * s.stride[i] - offset;
      phase.output[i] = std::max<int64_t>(0, (s.output[i] - first + s.stride[i] - 1) / s.stride[i]);
      phase.begin[i] = (phase.kernel[i] - 1) * s.dilation[i] - q0;
      strides.first += first * step[i];
    }
    if (phase.output_size() > 0) phases_.push_back({NhwcConv(phase, strides), weights});
    weights += NhwcConv::PackedSize(phase);
  });
}

size_t NhwcConvTranspose::Scratch(int threads) const {
  size_t largest = 0;
  for (const Phase& phase : phases_) largest = std::max(largest, phase.conv.Scratch(threads));
  return largest;
}

void NhwcConvTranspose::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  for (const Phase& phase : phases_) {
    NhwcArgs phase_args = args;
    phase_args.w += phase.weights;
    phase.conv.Run(phase_args, scratch, workers);
  }
}

}  // namespace tern::cpu
