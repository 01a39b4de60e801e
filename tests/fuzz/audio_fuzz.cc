// Decodes audio, then mixes, resamples and transforms the samples.
#include <cstdlib>
#include <string_view>

#include "data/audio/audio.h"
#include "data/audio/features.h"
#include "entry.h"

namespace {

void Check(const tern::Status& status) {
  if (!status.ok() && status.code() == tern::Code::kInternal) std::abort();
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  constexpr size_t kMaxSamples = 1 << 18;
  const auto audio = tern::data::DecodeAudio({reinterpret_cast<const char*>(data), size}, kMaxSamples);
  Check(audio.status());
  if (!audio.ok()) return 0;
  if (audio->channels < 1 || audio->sample_rate < 1 || audio->samples.size() > kMaxSamples ||
      audio->samples.size() % static_cast<size_t>(audio->channels) != 0)
    std::abort();
  tern::data::Audio mono = tern::data::Mono(*audio);
  mono.samples.resize(std::min<size_t>(mono.samples.size(), 2000));
  const auto resampled = tern::data::Resample(mono, 16000, tern::data::ResampleOptions::Fast());
  Check(resampled.status());
  if (resampled.ok() && resampled->samples.size() < 20000)
    Check(tern::data::LogMel(resampled->samples, tern::data::LogMelOptions::Whisper()).status());
  return 0;
}
