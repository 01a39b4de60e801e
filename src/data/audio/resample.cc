// Resamples by a windowed sinc. The filter for an output sample depends only on its phase, the position
// between two input samples. Rates with few phases get a table of all filters; for others the filters are
// interpolated.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "data/audio/audio.h"
#include "data/audio/lanes.h"

namespace tern::data {
namespace {

constexpr int kMaxRatio = 256;
constexpr size_t kMaxOutput = size_t{1} << 30;
constexpr int64_t kMaxTable = int64_t{1} << 22;  // coefficients
constexpr int kSteps = 4096;                     // of the interpolated filter, per zero crossing

// The modified Bessel function of the first kind and order zero, by its power series.
double BesselI0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= x / 2 / k * (x / 2 / k);
    sum += term;
  }
  return sum;
}

// The filter for a conversion from `from` to `to` Hz, where the rates have no common divisor.
struct Filter {
  int64_t from, to;
  double crossings;  // zero crossings on each side
  double kaiser_beta;
  double cutoff;  // zero crossings per input sample

  // Returns the value of the filter `t` zero crossings from its centre.
  double At(double t) const {
    const double position = t / crossings;
    if (std::abs(position) >= 1) return 0;
    const double window =
        kaiser_beta > 0 ? BesselI0(kaiser_beta * std::sqrt(1 - position * position)) / BesselI0(kaiser_beta)
                        : std::pow(std::cos(position * std::numbers::pi / 2), 2);
    const double x = t * std::numbers::pi;
    return (x == 0 ? 1 : std::sin(x) / x) * window * cutoff;
  }
  double half() const { return crossings / cutoff; }  // input samples
  int64_t taps() const { return static_cast<int64_t>(2 * half()) + 2; }
  // The centre of the filter for output sample `n`, relative to the input sample n * from / to rounded down.
  double Fraction(int64_t n) const { return static_cast<double>(n * from % to) / static_cast<double>(to); }
  int64_t First(double fraction) const { return static_cast<int64_t>(std::ceil(fraction - half())); }
};

// Gives the coefficients for one output sample at a time.
class Coefficients {
 public:
  explicit Coefficients(const Filter& filter) : filter_(filter), taps_(filter.taps()) {
    if (taps_ * filter.to <= kMaxTable)
      FillTable();
    else
      FillPrototype();
  }
  // `first` receives the index of the first tap, relative to the input sample n * from / to rounded down.
  const float* For(int64_t n, int64_t& first) {
    const double fraction = filter_.Fraction(n);
    first = filter_.First(fraction);
    if (prototype_.empty()) return table_.data() + n % filter_.to * taps_;
    for (int64_t k = 0; k < taps_; ++k)
      table_[static_cast<size_t>(k)] = Interpolated(static_cast<double>(first + k) - fraction);
    return table_.data();
  }

 private:
  void FillTable() {
    table_.resize(static_cast<size_t>(taps_ * filter_.to));
    for (int64_t n = 0; n < filter_.to; ++n) {
      const double fraction = filter_.Fraction(n);
      const int64_t first = filter_.First(fraction);
      for (int64_t k = 0; k < taps_; ++k)
        table_[static_cast<size_t>(n * taps_ + k)] =
            static_cast<float>(filter_.At((static_cast<double>(first + k) - fraction) * filter_.cutoff));
    }
  }
  void FillPrototype() {
    table_.resize(static_cast<size_t>(taps_));
    prototype_.resize(static_cast<size_t>(filter_.crossings * kSteps) + 2);
    for (size_t i = 0; i < prototype_.size(); ++i)
      prototype_[i] = filter_.At(static_cast<double>(i) / kSteps);
  }
  float Interpolated(double distance) const {
    const double at = std::abs(distance) * filter_.cutoff * kSteps;
    const size_t i = static_cast<size_t>(at);
    if (i + 1 >= prototype_.size()) return 0;
    return static_cast<float>(prototype_[i] +
                              (prototype_[i + 1] - prototype_[i]) * (at - static_cast<double>(i)));
  }

  const Filter filter_;
  const int64_t taps_;
  std::vector<float> table_;       // one row per phase, or one row for the current output sample
  std::vector<double> prototype_;  // one side of the filter; empty if table_ has all phases
};

TERN_AUDIO_CLONES float Convolve(const float* row, const float* samples, size_t taps) {
  return DotProduct(row, samples, taps);
}

// Resamples one channel of interleaved samples.
void ResampleChannel(const Filter& filter, const Audio& in, size_t channel, Audio& out, Coefficients& rows) {
  const int64_t frames = static_cast<int64_t>(in.frames()), taps = filter.taps();
  const int64_t margin = std::min(taps, static_cast<int64_t>(2 * filter.half()) + 2) + 2;
  std::vector<float> padded(static_cast<size_t>(frames + 2 * margin));
  for (int64_t i = 0; i < frames; ++i)
    padded[static_cast<size_t>(i + margin)] =
        in.samples[static_cast<size_t>(i) * static_cast<size_t>(in.channels) + channel];
  const int64_t count = static_cast<int64_t>(out.frames());
  for (int64_t n = 0; n < count; ++n) {
    int64_t first = 0;
    const float* row = rows.For(n, first);
    const int64_t start = n * filter.from / filter.to + first + margin;
    out.samples[static_cast<size_t>(n) * static_cast<size_t>(out.channels) + channel] =
        Convolve(row, padded.data() + start, static_cast<size_t>(taps));
  }
}

Status CheckRates(const Audio& audio, int rate, const ResampleOptions& options) {
  const int64_t from = audio.sample_rate, to = rate;
  if (from < 1 || to < 1 || to > kMaxRatio * from || from > kMaxRatio * to)
    return InvalidArgument("cannot resample from ", audio.sample_rate, " Hz to ", rate,
                           " Hz: the ratio must be at most ", kMaxRatio);
  if (options.zero_crossings < 1 || options.zero_crossings > 1024 || !(options.rolloff > 0) ||
      options.rolloff > 1 || !(options.kaiser_beta >= 0 && options.kaiser_beta <= 100))
    return InvalidArgument(
        "a resampling filter needs 1 to 1024 zero crossings, a rolloff in (0, 1] and a "
        "Kaiser beta of 0 to 100, got ",
        options.zero_crossings, ", ", options.rolloff, " and ", options.kaiser_beta);
  return {};
}

}  // namespace

Result<Audio> Resample(const Audio& audio, int rate, const ResampleOptions& options) {
  TERN_TRY(CheckRates(audio, rate, options));
  if (audio.sample_rate == rate) return audio;
  const int64_t divisor = std::gcd(audio.sample_rate, rate);
  Filter filter{audio.sample_rate / divisor, rate / divisor, static_cast<double>(options.zero_crossings),
                options.kaiser_beta, 0};
  filter.cutoff = static_cast<double>(std::min(filter.from, filter.to)) * options.rolloff /
                  static_cast<double>(filter.from);
  const size_t to = static_cast<size_t>(filter.to), from = static_cast<size_t>(filter.from);
  const size_t frames = (audio.frames() * to + from - 1) / from;
  if (frames > kMaxOutput / static_cast<size_t>(std::max(audio.channels, 1)))
    return InvalidArgument("resampling ", audio.frames(), " frames of ", audio.channels, " channels from ",
                           audio.sample_rate, " Hz to ", rate, " Hz gives more than ", kMaxOutput,
                           " samples");
  return Guard([&]() -> Result<Audio> {
    Audio out{rate, audio.channels, std::vector<float>(frames * static_cast<size_t>(audio.channels))};
    Coefficients rows(filter);
    for (size_t c = 0; c < static_cast<size_t>(audio.channels); ++c)
      ResampleChannel(filter, audio, c, out, rows);
    return out;
  });
}

}  // namespace tern::data
