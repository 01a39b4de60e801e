#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "data/audio/frames.h"
#include "data/audio/mel.h"

namespace tern::data {
namespace {

Status CheckLog(const LogMelOptions& o) {
  if (o.power != 1 && o.power != 2)
    return InvalidArgument("the power of a spectrogram is 1 or 2, got ", o.power);
  if (!(o.offset >= 0) || !(o.top_db >= 0) || !std::isfinite(o.preemphasis))
    return InvalidArgument("log-mel needs offset >= 0, top_db >= 0 and a finite preemphasis, got ", o.offset,
                           ", ", o.top_db, " and ", o.preemphasis);
  return {};
}

// Writes the squared magnitude of each bin.
TERN_AUDIO_CLONES void PowerOf(const ComplexLanes* spectrum, int64_t bins, double scale, Lanes* power) {
  for (int64_t k = 0; k < bins; ++k)
    power[k] = (spectrum[k].re * spectrum[k].re + spectrum[k].im * spectrum[k].im) * scale;
}

TERN_AUDIO_CLONES void ApplyBank(const MelFilter* bank, size_t count, const Lanes* power, int64_t time,
                                 int lanes, float* out) {
  for (size_t m = 0; m < count; ++m) {
    Lanes value;
    ApplyFilter(bank[m], power, value);
    float* to = out + static_cast<int64_t>(m) * time;
    for (int lane = 0; lane < lanes; ++lane) to[lane] = static_cast<float>(value[lane]);
  }
}

Result<Tensor> MelSpectrogram(Signal signal, const LogMelOptions& o) {
  TERN_ASSIGN(const Frames frames, MakeFrames(signal, o.stft, o.preemphasis));
  TERN_ASSIGN(const MelBank bank, MakeMelBank(o.mel, o.stft.n_fft));
  const int64_t time = frames.count - (o.drop_last_frame ? 1 : 0);
  Tensor out(DType::kF32, {o.mel.n_mels, time});
  const double scale = o.stft.normalized ? 1 / static_cast<double>(o.stft.n_fft) : 1.0;
  ForEachSpectrum(
      o.stft.n_fft, time, frames.bins(),
      [&](int64_t first, Lanes* frame) { LoadWindowed(frames, first, frame); },
      [&](int64_t first, int lanes, SpectrumScratch& s) {
        PowerOf(s.spectrum.data(), frames.bins(), scale, s.extra.data());
        for (Lanes& value : s.extra)
          for (int lane = 0; lane < kLanes && o.power == 1; ++lane) value[lane] = std::sqrt(value[lane]);
        ApplyBank(bank.data(), bank.size(), s.extra.data(), time, lanes, out.data<float>() + first);
      });
  return out;
}

void TakeLog(const LogMelOptions& o, std::span<float> x) {
  const float offset = static_cast<float>(o.offset);
  switch (o.log) {
    case LogKind::kNone:
      return;
    case LogKind::kNatural:
      for (float& v : x) v = std::log(v + offset);
      return;
    case LogKind::kClamped:
      for (float& v : x) v = std::log(std::max(v, offset));
      return;
    case LogKind::kDecibel:
    case LogKind::kWhisper:
      break;
  }
  const bool whisper = o.log == LogKind::kWhisper;
  float top = -std::numeric_limits<float>::infinity();
  for (float& v : x) {
    v = std::log10(std::max(v, offset)) * (whisper ? 1.0f : 10.0f);
    top = std::max(top, v);
  }
  if (!whisper && o.top_db == 0) return;
  const float least = top - (whisper ? 8.0f : static_cast<float>(o.top_db));
  for (float& v : x) {
    v = std::max(v, least);
    if (whisper) v = (v + 4.0f) / 4.0f;
  }
}

}  // namespace

LogMelOptions LogMelOptions::Whisper(int64_t n_mels) {
  LogMelOptions o;
  o.mel = {16000, n_mels, 0, 0, MelScale::kSlaney, MelNorm::kSlaney};
  o.log = LogKind::kWhisper;
  o.offset = 1e-10;
  o.drop_last_frame = true;
  return o;
}

Result<Tensor> LogMel(Signal signal, const LogMelOptions& options) {
  TERN_TRY(CheckLog(options));
  return Guard([&]() -> Result<Tensor> {
    TERN_ASSIGN(Tensor mel, MelSpectrogram(signal, options));
    TakeLog(options, {mel.data<float>(), static_cast<size_t>(mel.size())});
    return mel;
  });
}

Result<Tensor> Mfcc(Signal signal, const MfccOptions& o) {
  if (o.n_mfcc < 1 || o.n_mfcc > o.mel.mel.n_mels)
    return InvalidArgument("there are 1 to ", o.mel.mel.n_mels, " (n_mels) MFCCs, got ", o.n_mfcc);
  TERN_ASSIGN(const Tensor mel, LogMel(signal, o.mel));
  return Guard([&]() -> Result<Tensor> {
    const int64_t mels = mel.dim(0), time = mel.dim(1);
    const std::vector<double> dct = DctMatrix(o.n_mfcc, mels);
    Tensor out(DType::kF32, {o.n_mfcc, time});
    std::vector<double> row(static_cast<size_t>(time));
    for (int64_t k = 0; k < o.n_mfcc; ++k) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int64_t m = 0; m < mels; ++m) {
        const double c = dct[static_cast<size_t>(k * mels + m)];
        const float* from = mel.data<float>() + m * time;
        for (int64_t t = 0; t < time; ++t) row[static_cast<size_t>(t)] += c * static_cast<double>(from[t]);
      }
      const double lift =
          o.lifter > 0 ? 1 + o.lifter / 2 * std::sin(std::numbers::pi * static_cast<double>(k + 1) / o.lifter)
                       : 1;
      for (int64_t t = 0; t < time; ++t)
        out.data<float>()[k * time + t] = static_cast<float>(row[static_cast<size_t>(t)] * lift);
    }
    return out;
  });
}

}  // namespace tern::data
