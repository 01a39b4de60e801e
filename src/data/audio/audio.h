// Sound as samples: decodes WAV and FLAC files, writes WAV files, mixes channels and changes the sample rate.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {

struct Audio {
  int sample_rate = 0;         // samples per second and channel
  int channels = 0;            // at least 1
  std::vector<float> samples;  // interleaved: the channels of one instant are adjacent; full scale is [-1, 1)
  size_t frames() const { return channels > 0 ? samples.size() / static_cast<size_t>(channels) : 0; }
};

// Detects the format by the first bytes. Reads WAV (RIFF, RF64 and BW64 with PCM of 8 to 32 bits, floats of
// 32 and 64 bits, mu-law and A-law) and native FLAC. Integer samples are divided by 2^(bits - 1). The sample
// rate is 1 to 2^24 Hz, and there are at most 1024 channels. Programs that write to a pipe cannot store the
// size of the data chunk. If the stored size exceeds the file, or if it and the size in the RIFF header are
// both 0, the file is read to its end. Fails if there are more than `max_samples` samples in all channels; a
// FLAC file of a few bytes can contain millions.
constexpr size_t kMaxAudioSamples = size_t{1} << 28;
Result<Audio> DecodeAudio(std::string_view bytes, size_t max_samples = kMaxAudioSamples);
Result<Audio> ReadAudio(const std::string& path);

enum class WavFormat { kPcm16, kPcm24, kFloat32 };
// Encodes a WAV file. PCM samples are rounded to nearest, and clipped at full scale.
Result<std::string> EncodeWav(const Audio& audio, WavFormat format = WavFormat::kPcm16);
Status WriteWav(const std::string& path, const Audio& audio, WavFormat format = WavFormat::kPcm16);

// Returns the mean of the channels.
Audio Mono(const Audio& audio);

// The low-pass filter of Resample: a sinc with `zero_crossings` crossings on each side, times a window. Its
// cutoff is `rolloff` times half of the lower rate. With `kaiser_beta` > 0 the window is Kaiser's, else
// Hann's.
struct ResampleOptions {
  int zero_crossings = 64;
  double rolloff = 0.9475937167399596;
  double kaiser_beta = 14.769656459379492;
  // torchaudio.functional.resample with its default arguments: faster, with more aliasing.
  static ResampleOptions Fast() { return {6, 0.99, 0}; }
};
// Changes the sample rate. The result has ceil(frames * rate / audio.sample_rate) frames and equals
// torchaudio.functional.resample with the same filter. Fails if the ratio of the rates is above 256 or below
// 1/256, if an option is out of range, or if the result has more than 2^30 samples.
Result<Audio> Resample(const Audio& audio, int rate, const ResampleOptions& options = {});

}  // namespace tern::data
