// Filter banks and MFCCs as Kaldi computes them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "data/audio/frames.h"
#include "data/audio/mel.h"

namespace tern::data {
namespace {

struct Plan {
  int64_t length, shift, n_fft, count;  // samples; `count` frames
  int64_t left = 0;                     // reflected samples before the first one
};

Result<Plan> MakePlan(int64_t samples, const KaldiOptions& o) {
  const double per_ms = o.sample_rate / 1000.0;
  const double length = o.frame_length * per_ms, shift = o.frame_shift * per_ms;
  if (!(length >= 2) || !(shift >= 1) || length > 1 << 20 || shift > 1 << 20)
    return InvalidArgument("a frame needs 2 to ", 1 << 20, " samples and a shift of 1 to ", 1 << 20, ", got ",
                           length, " and ", shift);
  Plan p{static_cast<int64_t>(length), static_cast<int64_t>(shift), 1, 0};
  while (p.n_fft < p.length) p.n_fft *= 2;
  if (!o.round_to_power_of_two) p.n_fft = p.length;
  if (samples < p.length)
    return InvalidArgument("a signal of ", samples, " samples is shorter than one frame of ", p.length);
  p.count = o.snip_edges ? 1 + (samples - p.length) / p.shift : (samples + p.shift / 2) / p.shift;
  p.left = o.snip_edges ? 0 : p.length / 2 - p.shift / 2;
  return p;
}

// Returns sample `i`. Outside the signal, the signal is reflected with its edge sample repeated.
double SampleAt(Signal signal, int64_t i) {
  const int64_t size = static_cast<int64_t>(signal.size());
  if (i < 0) i = -1 - i;
  if (i >= size) i = 2 * size - 1 - i;
  return static_cast<double>(signal[static_cast<size_t>(std::clamp<int64_t>(i, 0, size - 1))]);
}

// Writes one frame into a lane: scaled, without its mean, with preemphasis and window.
void LoadFrame(Signal signal, const Plan& p, const KaldiOptions& o, const std::vector<double>& window,
               int64_t index, int lane, Lanes* frame) {
  const int64_t start = index * p.shift - p.left;
  double mean = 0;
  for (int64_t i = 0; i < p.length && o.remove_dc_offset; ++i) mean += SampleAt(signal, start + i);
  mean /= static_cast<double>(p.length);
  double before = SampleAt(signal, start) - mean;
  for (int64_t i = 0; i < p.length; ++i) {
    const double x = SampleAt(signal, start + i) - mean;
    const double w = window[static_cast<size_t>(i)] * o.scale;
    frame[i][lane] = (x - o.preemphasis * before) * w;
    before = x;
  }
}

Result<Tensor> Fbank(Signal signal, const KaldiOptions& o) {
  TERN_ASSIGN(const Plan p, MakePlan(static_cast<int64_t>(signal.size()), o));
  TERN_ASSIGN(const MelBank bank, MakeKaldiMelBank(o, p.n_fft));
  const std::vector<double> window = MakeWindow(o.window, p.length, false);
  Tensor out(DType::kF32, {p.count, o.n_mels});
  constexpr double kLeast = static_cast<double>(std::numeric_limits<float>::epsilon());
  const auto load = [&](int64_t first, Lanes* frame) {
    std::fill(frame, frame + p.n_fft, Lanes{});
    for (int lane = 0; lane < kLanes; ++lane)
      LoadFrame(signal, p, o, window, std::min(first + lane, p.count - 1), lane, frame);
  };
  ForEachSpectrum(p.n_fft, p.count, p.n_fft / 2 + 1, load, [&](int64_t first, int lanes, SpectrumScratch& s) {
    for (size_t k = 0; k < s.spectrum.size(); ++k) {
      const ComplexLanes& x = s.spectrum[k];
      s.extra[k] = x.re * x.re + x.im * x.im;
      for (int lane = 0; lane < kLanes && !o.use_power; ++lane)
        s.extra[k][lane] = std::sqrt(s.extra[k][lane]);
    }
    for (size_t m = 0; m < bank.size(); ++m) {
      Lanes value;
      ApplyFilter(bank[m], s.extra.data(), value);
      for (int lane = 0; lane < lanes; ++lane)
        out.data<float>()[(first + lane) * o.n_mels + static_cast<int64_t>(m)] =
            static_cast<float>(o.use_log ? std::log(std::max(value[lane], kLeast)) : value[lane]);
    }
  });
  return out;
}

}  // namespace

Result<Tensor> KaldiFbank(Signal signal, const KaldiOptions& options) {
  return Guard([&] { return Fbank(signal, options); });
}

Result<Tensor> KaldiMfcc(Signal signal, const KaldiOptions& o) {
  if (o.n_mfcc < 1 || o.n_mfcc > o.n_mels)
    return InvalidArgument("there are 1 to ", o.n_mels, " (n_mels) MFCCs, got ", o.n_mfcc);
  KaldiOptions fbank = o;
  fbank.use_log = fbank.use_power = true;
  TERN_ASSIGN(const Tensor mel, KaldiFbank(signal, fbank));
  return Guard([&]() -> Result<Tensor> {
    const std::vector<double> dct = DctMatrix(o.n_mfcc, o.n_mels);
    Tensor out(DType::kF32, {mel.dim(0), o.n_mfcc});
    for (int64_t t = 0; t < mel.dim(0); ++t)
      for (int64_t k = 0; k < o.n_mfcc; ++k) {
        double sum = 0;
        for (int64_t m = 0; m < o.n_mels; ++m)
          sum += dct[static_cast<size_t>(k * o.n_mels + m)] *
                 static_cast<double>(mel.data<float>()[t * o.n_mels + m]);
        const double q = o.cepstral_lifter;
        const double lift = q > 0 ? 1 + q / 2 * std::sin(std::numbers::pi * static_cast<double>(k) / q) : 1;
        out.data<float>()[t * o.n_mfcc + k] = static_cast<float>(sum * lift);
      }
    return out;
  });
}

}  // namespace tern::data
