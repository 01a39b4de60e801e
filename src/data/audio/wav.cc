#include "data/audio/wav.h"

#include <algorithm>
#include <optional>

namespace tern::data {
namespace {

constexpr uint32_t kUnknownSize = 0xFFFFFFFF;
constexpr size_t kRiffHeader = 12, kChunkHeader = 8;
constexpr uint32_t kMaxRate = 1 << 24;
constexpr uint32_t kMaxChannels = 1024;

uint64_t LittleEndian(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}
uint32_t U16(std::string_view bytes, size_t at) { return static_cast<uint32_t>(LittleEndian(bytes, at, 2)); }
uint32_t U32(std::string_view bytes, size_t at) { return static_cast<uint32_t>(LittleEndian(bytes, at, 4)); }

// The chunks of a file that the decoder needs.
struct Chunks {
  std::optional<std::string_view> format, data;
  std::optional<uint64_t> long_data;  // the size of the data chunk by the chunk ds64
};

// Returns the bytes of the chunk at `at`. If the size of the data chunk is missing or exceeds the file, the
// chunk extends to the end of the file.
Result<std::string_view> ChunkAt(std::string_view bytes, size_t at, const Chunks& chunks) {
  const std::string_view id = bytes.substr(at, 4);
  uint64_t size = U32(bytes, at + 4);
  const std::string_view rest = bytes.substr(at + kChunkHeader);
  if (id == "data") {
    if (size == kUnknownSize && chunks.long_data) size = *chunks.long_data;
    // A program that writes to a pipe cannot go back to store the sizes, and some leave zeros.
    const bool never_stored = size == 0 && U32(bytes, 4) == 0;
    return rest.substr(0, never_stored ? rest.size() : std::min<uint64_t>(size, rest.size()));
  }
  if (id == "fmt " && size > rest.size())
    return InvalidArgument("broken WAV: the chunk 'fmt ' at byte ", at, " has ", size, " bytes, but only ",
                           rest.size(), " follow");
  return rest.substr(0, std::min<uint64_t>(size, rest.size()));
}

Result<Chunks> FindChunks(std::string_view bytes) {
  Chunks chunks;
  size_t at = kRiffHeader;
  while (at + kChunkHeader <= bytes.size() && !(chunks.format && chunks.data)) {
    const std::string_view id = bytes.substr(at, 4);
    TERN_ASSIGN(const std::string_view chunk, ChunkAt(bytes, at, chunks));
    if (id == "ds64" && chunk.size() >= 16) chunks.long_data = LittleEndian(chunk, 8, 8);
    if (id == "fmt " && !chunks.format) chunks.format = chunk;
    if (id == "data" && !chunks.data) chunks.data = chunk;
    at += kChunkHeader + chunk.size() + chunk.size() % 2;  // chunks begin at even offsets
  }
  if (!chunks.format) return InvalidArgument("broken WAV: there is no chunk 'fmt '");
  if (!chunks.data) return InvalidArgument("broken WAV: there is no chunk 'data'");
  return chunks;
}

struct Format {
  uint32_t tag = 0, channels = 0, rate = 0, frame_bytes = 0, bits = 0;
};

// The bytes after the tag in the GUID of an extensible format.
constexpr std::string_view kGuidTail("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);

Result<Format> ParseFormat(std::string_view chunk) {
  if (chunk.size() < 16)
    return InvalidArgument("broken WAV: the chunk 'fmt ' has ", chunk.size(), " bytes, but needs 16");
  Format f{U16(chunk, 0), U16(chunk, 2), U32(chunk, 4), U16(chunk, 12), U16(chunk, 14)};
  constexpr uint32_t kExtensible = 0xFFFE;
  if (f.tag == kExtensible) {
    if (chunk.size() < 40)
      return InvalidArgument("broken WAV: an extensible chunk 'fmt ' has ", chunk.size(),
                             " bytes, but needs 40");
    if (chunk.substr(26, 14) != kGuidTail) return Unsupported("WAV with an unknown GUID as its coding");
    f.tag = U16(chunk, 24);
  }
  if (f.channels == 0 || f.channels > kMaxChannels)
    return InvalidArgument("a WAV file must have 1 to ", kMaxChannels, " channels, got ", f.channels);
  if (f.rate == 0 || f.rate > kMaxRate)
    return InvalidArgument("a WAV file must have a sample rate of 1 to ", kMaxRate, " Hz, got ", f.rate);
  return f;
}

Result<WavLayout> LayoutOf(const Format& f) {
  const uint32_t bytes = f.frame_bytes / f.channels;
  const auto wrong = [&] {
    return InvalidArgument("broken WAV: ", f.channels, " channels of ", f.bits, " bits with coding ", f.tag,
                           " do not make frames of ", f.frame_bytes, " bytes");
  };
  if (f.frame_bytes % f.channels != 0 || bytes * 8 < f.bits || bytes == 0) return wrong();
  const int size = static_cast<int>(bytes);
  switch (f.tag) {
    case 1:
      return bytes <= 4 ? Result<WavLayout>({WavLayout::Coding::kPcm, size}) : wrong();
    case 3:
      if ((bytes != 4 && bytes != 8) || f.bits != bytes * 8) return wrong();
      return WavLayout{WavLayout::Coding::kFloat, size};
    case 6:
      return bytes == 1 ? Result<WavLayout>({WavLayout::Coding::kALaw, size}) : wrong();
    case 7:
      return bytes == 1 ? Result<WavLayout>({WavLayout::Coding::kMuLaw, size}) : wrong();
    default:
      return Unsupported("WAV with coding ", f.tag,
                         "; PCM (1), floats (3), A-law (6) and mu-law (7) are read");
  }
}

}  // namespace

bool IsWav(std::string_view bytes) {
  const std::string_view id = bytes.substr(0, 4);
  return bytes.size() >= kRiffHeader && (id == "RIFF" || id == "RF64" || id == "BW64") &&
         bytes.substr(8, 4) == "WAVE";
}

Result<Audio> DecodeWav(std::string_view bytes, size_t max_samples) {
  TERN_ASSIGN(const Chunks chunks, FindChunks(bytes));
  TERN_ASSIGN(const Format format, ParseFormat(*chunks.format));
  TERN_ASSIGN(const WavLayout layout, LayoutOf(format));
  const size_t frames = chunks.data->size() / format.frame_bytes;
  const size_t samples = frames * format.channels;
  if (samples > max_samples)
    return InvalidArgument("the WAV file has ", samples, " samples, but the limit is ", max_samples);
  Audio audio{static_cast<int>(format.rate), static_cast<int>(format.channels), std::vector<float>(samples)};
  ConvertWavSamples(layout, *chunks.data, audio.samples);
  return audio;
}

}  // namespace tern::data
