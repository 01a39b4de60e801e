#include <algorithm>
#include <cmath>

#include "data/audio/frames.h"

namespace tern::data {
namespace {

Result<Tensor> Allocate(const Dims& dims) {
  if (!CheckedCount(dims, DType::kF32))
    return ResourceExhausted("a spectrum of ", Describe(DType::kF32, dims), " is too large");
  return Guard([&]() -> Result<Tensor> { return Tensor(DType::kF32, dims); });
}

// Stores bin `k` of frames [first, first + lanes) of a tensor [bins, time, 2].
void StoreBin(const ComplexLanes& value, double scale_re, double scale_im, int64_t first, int lanes,
              int64_t time, int64_t k, float* out) {
  float* to = out + 2 * (k * time + first);
  for (int lane = 0; lane < lanes; ++lane) {
    to[2 * lane] = static_cast<float>(value.re[lane] * scale_re);
    to[2 * lane + 1] = static_cast<float>(value.im[lane] * scale_im);
  }
}

// The sums of the overlapping frames of an inverse transform.
struct Overlap {
  std::vector<double> sum, envelope;  // sums of the frames, and of the squared windows
};

void LoadSpectrum(const Tensor& spectrum, int64_t first, double scale, int64_t bins, ComplexLanes* out) {
  const int64_t time = spectrum.dim(1);
  const float* data = spectrum.data<float>();
  for (int64_t k = 0; k < bins; ++k)
    for (int lane = 0; lane < kLanes; ++lane) {
      const float* from = data + 2 * (k * time + std::min(first + lane, time - 1));
      out[k].re[lane] = static_cast<double>(from[0]) * scale;
      out[k].im[lane] = static_cast<double>(from[1]) * scale;
    }
}

Overlap AddFrames(const Tensor& spectrum, const StftOptions& o, const std::vector<double>& window) {
  const int64_t time = spectrum.dim(1), n = o.n_fft;
  const size_t size = static_cast<size_t>(n + (time - 1) * o.hop_length);
  Overlap out{std::vector<double>(size), std::vector<double>(size)};
  const RealFft fft(n);
  ComplexBuffer bins(static_cast<size_t>(fft.bins())), work(static_cast<size_t>(fft.scratch()));
  LaneBuffer frame(static_cast<size_t>(n));
  const double scale = o.normalized ? std::sqrt(static_cast<double>(n)) : 1.0;
  for (int64_t first = 0; first < time; first += kLanes) {
    LoadSpectrum(spectrum, first, scale, fft.bins(), bins.data());
    fft.Inverse(bins.data(), frame.data(), work.data());
    for (int64_t t = first; t < std::min(first + kLanes, time); ++t)
      for (int64_t i = 0; i < n; ++i) {
        const size_t at = static_cast<size_t>(t * o.hop_length + i), w = static_cast<size_t>(i);
        out.sum[at] += frame[w][t - first] * window[w];
        out.envelope[at] += window[w] * window[w];
      }
  }
  return out;
}

Status CheckSpectrum(const Tensor& s, const StftOptions& o) {
  const int64_t bins = o.onesided ? o.n_fft / 2 + 1 : o.n_fft;
  if (s.dtype() == DType::kF32 && s.rank() == 3 && s.dim(0) == bins && s.dim(1) > 0 && s.dim(2) == 2 &&
      s.contiguous())
    return {};
  return InvalidArgument("a spectrum must be f32[", bins, ",time,2], got ", s.Describe());
}

}  // namespace

Result<Tensor> Stft(Signal signal, const StftOptions& options) {
  TERN_ASSIGN(const Frames frames, MakeFrames(signal, options));
  const int64_t n = options.n_fft, time = frames.count;
  TERN_ASSIGN(Tensor out, Allocate({options.onesided ? frames.bins() : n, time, 2}));
  const double scale = options.normalized ? 1 / std::sqrt(static_cast<double>(n)) : 1.0;
  ForEachSpectrum(
      n, time, 0, [&](int64_t first, Lanes* frame) { LoadWindowed(frames, first, frame); },
      [&](int64_t first, int lanes, const SpectrumScratch& s) {
        for (int64_t k = 0; k < out.dim(0); ++k) {
          const bool mirrored = k >= frames.bins();
          const ComplexLanes& value = s.spectrum[static_cast<size_t>(mirrored ? n - k : k)];
          StoreBin(value, scale, mirrored ? -scale : scale, first, lanes, time, k, out.data<float>());
        }
      });
  return out;
}

Result<Tensor> Istft(const Tensor& spectrum, const StftOptions& o, int64_t length) {
  TERN_ASSIGN(const std::vector<double> window, FrameWindow(o));
  TERN_TRY(CheckSpectrum(spectrum, o));
  const int64_t size = o.n_fft + (spectrum.dim(1) - 1) * o.hop_length;
  const int64_t start = o.center ? o.n_fft / 2 : 0;
  const int64_t end = length >= 0 ? start + length : size - start;
  TERN_ASSIGN(Tensor out, Allocate({std::max<int64_t>(end - start, 0)}));
  const Overlap overlap = AddFrames(spectrum, o, window);
  for (int64_t i = start; i < std::min(end, size); ++i) {
    const double envelope = overlap.envelope[static_cast<size_t>(i)];
    if (envelope <= 1e-11)
      return InvalidArgument("the windows' sum of squares is zero at sample ", i - start, "; hop_length ",
                             o.hop_length, " is too large for the window");
    out.data<float>()[i - start] = static_cast<float>(overlap.sum[static_cast<size_t>(i)] / envelope);
  }
  return out;
}

Result<Tensor> Spectrogram(Signal signal, const StftOptions& options, double power) {
  if (power != 1 && power != 2) return InvalidArgument("the power of a spectrogram is 1 or 2, got ", power);
  TERN_ASSIGN(const Frames frames, MakeFrames(signal, options));
  TERN_ASSIGN(Tensor out, Allocate({options.onesided ? frames.bins() : options.n_fft, frames.count}));
  const double scale = options.normalized ? 1 / static_cast<double>(options.n_fft) : 1.0;
  ForEachSpectrum(
      options.n_fft, frames.count, 0,
      [&](int64_t first, Lanes* frame) { LoadWindowed(frames, first, frame); },
      [&](int64_t first, int lanes, const SpectrumScratch& s) {
        for (int64_t k = 0; k < out.dim(0); ++k) {
          const ComplexLanes& x = s.spectrum[static_cast<size_t>(k < frames.bins() ? k : options.n_fft - k)];
          const Lanes value = (x.re * x.re + x.im * x.im) * scale;
          float* to = out.data<float>() + k * frames.count + first;
          for (int lane = 0; lane < lanes; ++lane)
            to[lane] = static_cast<float>(power == 2 ? value[lane] : std::sqrt(value[lane]));
        }
      });
  return out;
}

}  // namespace tern::data
