#include "data/audio/mel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tern::data {
namespace {

constexpr int64_t kMaxMels = 1 << 14;

// Slaney's scale is linear below 1000 Hz, which is 15 mel, and logarithmic above.
constexpr double kSlaneyStep = 200.0 / 3, kSlaneyKnee = 1000, kSlaneyKneeMel = 15;
double SlaneyLogStep() { return std::log(6.4) / 27; }

double HzToMel(double hz, MelScale scale) {
  if (scale == MelScale::kHtk) return 2595 * std::log10(1 + hz / 700);
  if (hz < kSlaneyKnee) return hz / kSlaneyStep;
  return kSlaneyKneeMel + std::log(hz / kSlaneyKnee) / SlaneyLogStep();
}

double MelToHz(double mel, MelScale scale) {
  if (scale == MelScale::kHtk) return 700 * (std::pow(10, mel / 2595) - 1);
  if (mel < kSlaneyKneeMel) return mel * kSlaneyStep;
  return kSlaneyKnee * std::exp(SlaneyLogStep() * (mel - kSlaneyKneeMel));
}

double KaldiMel(double hz) { return 1127 * std::log(1 + hz / 700); }

Status CheckBank(int sample_rate, int64_t n_mels, double low, double high) {
  const double nyquist = sample_rate / 2.0;
  if (sample_rate < 1 || n_mels < 1 || n_mels > kMaxMels || !(low >= 0) || !(low < high) ||
      !(high <= nyquist))
    return InvalidArgument("a mel bank needs 1 to ", kMaxMels, " filters and 0 <= f_min < f_max <= ", nyquist,
                           " Hz, got ", n_mels, " filters from ", low, " to ", high, " Hz");
  return {};
}

// Makes a filter from a function of the bin that is positive on one interval.
template <class F> MelFilter FilterOf(int64_t bins, const F& weight) {
  MelFilter filter;
  for (int64_t k = 0; k < bins; ++k) {
    const double w = weight(k);
    if (w > 0 && filter.weights.empty()) filter.first = k;
    if (w > 0) filter.weights.push_back(w);
  }
  return filter;
}

double Triangle(double x, double left, double centre, double right) {
  return std::min((x - left) / (centre - left), (right - x) / (right - centre));
}

}  // namespace

Result<MelBank> MakeMelBank(const MelOptions& o, int64_t n_fft) {
  const double high = o.f_max == 0 ? o.sample_rate / 2.0 : o.f_max;
  TERN_TRY(CheckBank(o.sample_rate, o.n_mels, o.f_min, high));
  const double first = HzToMel(o.f_min, o.scale), last = HzToMel(high, o.scale);
  const auto edge = [&](int64_t i) {
    return MelToHz(first + (last - first) * static_cast<double>(i) / static_cast<double>(o.n_mels + 1),
                   o.scale);
  };
  MelBank bank;
  for (int64_t m = 0; m < o.n_mels; ++m) {
    const double left = edge(m), centre = edge(m + 1), right = edge(m + 2);
    const double gain = o.norm == MelNorm::kSlaney ? 2 / (right - left) : 1;
    bank.push_back(FilterOf(n_fft / 2 + 1, [&](int64_t k) {
      const double hz = static_cast<double>(k) * o.sample_rate / static_cast<double>(n_fft);
      return gain * Triangle(hz, left, centre, right);
    }));
  }
  return bank;
}

Result<MelBank> MakeKaldiMelBank(const KaldiOptions& o, int64_t n_fft) {
  const double high = o.high_freq > 0 ? o.high_freq : o.sample_rate / 2.0 + o.high_freq;
  TERN_TRY(CheckBank(o.sample_rate, o.n_mels, o.low_freq, high));
  const double first = KaldiMel(o.low_freq),
               step = (KaldiMel(high) - first) / static_cast<double>(o.n_mels + 1);
  MelBank bank;
  for (int64_t m = 0; m < o.n_mels; ++m) {
    const double left = first + static_cast<double>(m) * step;
    bank.push_back(FilterOf(n_fft / 2, [&](int64_t k) {
      const double mel = KaldiMel(static_cast<double>(k) * o.sample_rate / static_cast<double>(n_fft));
      return Triangle(mel, left, left + step, left + 2 * step);
    }));
  }
  return bank;
}

Result<Tensor> MelFilterBank(const MelOptions& options, int64_t n_fft) {
  if (n_fft < 1 || n_fft > int64_t{1} << 22) return InvalidArgument("n_fft ", n_fft, " is out of range");
  TERN_ASSIGN(const MelBank bank, MakeMelBank(options, n_fft));
  return Guard([&]() -> Result<Tensor> {
    Tensor out(DType::kF32, {options.n_mels, n_fft / 2 + 1});
    for (size_t m = 0; m < bank.size(); ++m)
      std::transform(bank[m].weights.begin(), bank[m].weights.end(),
                     out.data<float>() + static_cast<int64_t>(m) * out.dim(1) + bank[m].first,
                     [](double w) { return static_cast<float>(w); });
    return out;
  });
}

std::vector<double> DctMatrix(int64_t count, int64_t size) {
  std::vector<double> out(static_cast<size_t>(count * size));
  const double n = static_cast<double>(size);
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < size; ++i)
      out[static_cast<size_t>(k * size + i)] =
          std::cos(std::numbers::pi / n * (static_cast<double>(i) + 0.5) * static_cast<double>(k)) *
          std::sqrt((k == 0 ? 1 : 2) / n);
  return out;
}

}  // namespace tern::data
