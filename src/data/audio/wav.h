// Reads WAV files (RIFF, RF64 and BW64).
#pragma once
#include <string_view>

#include "data/audio/audio.h"

namespace tern::data {

bool IsWav(std::string_view bytes);
Result<Audio> DecodeWav(std::string_view bytes, size_t max_samples);

// How the samples of a WAV file are stored.
struct WavLayout {
  enum class Coding { kPcm, kFloat, kMuLaw, kALaw };
  Coding coding = Coding::kPcm;
  int sample_bytes = 0;  // of one sample: 1 to 4 for PCM, 4 or 8 for floats, else 1
};
// Converts little-endian samples to floats. `bytes` holds as many samples as `out`.
void ConvertWavSamples(const WavLayout& layout, std::string_view bytes, std::vector<float>& out);

}  // namespace tern::data
