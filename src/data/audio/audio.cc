#include "data/audio/audio.h"

#include "core/buffer.h"
#include "data/audio/flac.h"
#include "data/audio/wav.h"

namespace tern::data {

Result<Audio> DecodeAudio(std::string_view bytes, size_t max_samples) {
  return Guard([&]() -> Result<Audio> {
    if (IsWav(bytes)) return DecodeWav(bytes, max_samples);
    if (IsFlac(bytes)) return DecodeFlac(bytes, max_samples);
    if (StartsWith(bytes, "OggS")) return Unsupported("an Ogg file; convert it to WAV or FLAC");
    if (StartsWith(bytes, "ID3") || StartsWith(bytes, "\xff\xfb"))
      return Unsupported("an MP3 file; convert it to WAV or FLAC");
    return InvalidArgument("neither WAV nor FLAC");
  });
}

Result<Audio> ReadAudio(const std::string& path) {
  TERN_ASSIGN(Buffer file, Buffer::MapFile(path));
  auto audio = DecodeAudio({reinterpret_cast<const char*>(file.data()), file.size()});
  if (!audio.ok()) return audio.TakeStatus().While(StrCat("reading '", path, "'"));
  return audio;
}

Audio Mono(const Audio& audio) {
  if (audio.channels <= 1) return audio;
  const size_t channels = static_cast<size_t>(audio.channels), frames = audio.frames();
  Audio out{audio.sample_rate, 1, std::vector<float>(frames)};
  const double scale = 1.0 / static_cast<double>(channels);
  for (size_t i = 0; i < frames; ++i) {
    double sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += static_cast<double>(audio.samples[i * channels + c]);
    out.samples[i] = static_cast<float>(sum * scale);
  }
  return out;
}

}  // namespace tern::data
