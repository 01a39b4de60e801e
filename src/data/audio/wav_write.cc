#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/audio/audio.h"
#include "data/file.h"

namespace tern::data {
namespace {

void Put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> 8 * i & 0xFF));
}

int SampleBytes(WavFormat format) {
  return format == WavFormat::kPcm16 ? 2 : format == WavFormat::kPcm24 ? 3 : 4;
}

void PutSamples(std::string& out, const std::vector<float>& samples, WavFormat format) {
  const int bytes = SampleBytes(format);
  const double full = std::ldexp(1.0, 8 * bytes - 1);
  for (const float sample : samples) {
    if (format == WavFormat::kFloat32) {
      uint32_t bits;
      std::memcpy(&bits, &sample, sizeof bits);
      Put(out, bits, bytes);
      continue;
    }
    const double value = std::isnan(sample) ? 0 : std::nearbyint(static_cast<double>(sample) * full);
    Put(out, static_cast<uint64_t>(static_cast<int64_t>(std::clamp(value, -full, full - 1))), bytes);
  }
}

}  // namespace

Result<std::string> EncodeWav(const Audio& audio, WavFormat format) {
  if (audio.channels < 1 || audio.channels > 0xFFFF || audio.sample_rate < 1)
    return InvalidArgument("a WAV file needs 1 to 65535 channels and a sample rate, got ", audio.channels,
                           " channels of ", audio.sample_rate, " Hz");
  if (audio.samples.size() % static_cast<size_t>(audio.channels) != 0)
    return InvalidArgument(audio.samples.size(), " samples are not a multiple of ", audio.channels,
                           " channels");
  const uint64_t bytes = static_cast<uint64_t>(SampleBytes(format));
  const uint64_t frame = bytes * static_cast<uint64_t>(audio.channels), data = bytes * audio.samples.size();
  if (data > 0xFFFFFF00u || frame > 0xFFFF)
    return InvalidArgument("a WAV file cannot hold ", data, " bytes of samples in frames of ", frame);
  return Guard([&]() -> Result<std::string> {
    std::string out;
    out.reserve(46 + data);
    out += "RIFF";
    Put(out, 36 + data + data % 2, 4);
    out += "WAVEfmt ";
    Put(out, 16, 4);
    Put(out, format == WavFormat::kFloat32 ? 3 : 1, 2);
    Put(out, static_cast<uint64_t>(audio.channels), 2);
    Put(out, static_cast<uint64_t>(audio.sample_rate), 4);
    Put(out, static_cast<uint64_t>(audio.sample_rate) * frame, 4);
    Put(out, frame, 2);
    Put(out, bytes * 8, 2);
    out += "data";
    Put(out, data, 4);
    PutSamples(out, audio.samples, format);
    if (data % 2) out.push_back('\0');
    return out;
  });
}

Status WriteWav(const std::string& path, const Audio& audio, WavFormat format) {
  TERN_ASSIGN(const std::string bytes, EncodeWav(audio, format));
  return WriteFile(path, bytes);
}

}  // namespace tern::data
