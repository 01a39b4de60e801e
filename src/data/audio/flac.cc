#include "data/audio/flac.h"

#include <FLAC/stream_decoder.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace tern::data {
namespace {

struct Stream {
  std::string_view bytes;
  size_t at = 0;
  size_t max_samples = 0;
  uint64_t total_frames = 0;  // as the header states; 0 means unknown
  unsigned bits = 0;
  Audio audio;
  Status status;  // the first error
};

bool Complete(const Stream& s) { return s.total_frames > 0 && s.audio.frames() >= s.total_frames; }

FLAC__StreamDecoderReadStatus Read(const FLAC__StreamDecoder*, FLAC__byte buffer[], size_t* bytes,
                                   void* client) {
  auto& s = *static_cast<Stream*>(client);
  *bytes = std::min(*bytes, s.bytes.size() - s.at);
  if (*bytes == 0) return FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
  std::memcpy(buffer, s.bytes.data() + s.at, *bytes);
  s.at += *bytes;
  return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

// Checks a frame before its samples are stored.
Status CheckFrame(Stream& s, const FLAC__FrameHeader& h) {
  if (s.audio.channels == 0) {
    s.audio.channels = static_cast<int>(h.channels);
    s.audio.sample_rate = static_cast<int>(h.sample_rate);
    s.bits = h.bits_per_sample;
  }
  if (s.audio.sample_rate < 1) return InvalidArgument("broken FLAC: the sample rate is 0");
  if (static_cast<int>(h.channels) != s.audio.channels || h.bits_per_sample != s.bits ||
      static_cast<int>(h.sample_rate) != s.audio.sample_rate)
    return Unsupported("FLAC whose number of channels, bits or sample rate changes from ", s.audio.channels,
                       ", ", s.bits, ", ", s.audio.sample_rate, " to ", h.channels, ", ", h.bits_per_sample,
                       ", ", h.sample_rate);
  if (s.audio.samples.size() + size_t{h.blocksize} * h.channels > s.max_samples)
    return InvalidArgument("the FLAC file has more samples than the limit of ", s.max_samples);
  return {};
}

// A header may announce any length. A file of `bytes` seldom has more samples than this.
void ReserveSamples(Stream& s) {
  const uint64_t likely = std::min<uint64_t>(s.max_samples, uint64_t{8} * s.bytes.size());
  const auto channels = static_cast<uint64_t>(s.audio.channels);
  if (s.total_frames <= likely / std::max<uint64_t>(1, channels))
    s.audio.samples.reserve(static_cast<size_t>(s.total_frames * channels));
}

// Writes the samples of all channels in turn. Compilers vectorize the loops with a fixed number of channels.
template <size_t kChannels>
void InterleaveFixed(const FLAC__int32* const from[], size_t frames, float scale, float* to) {
  const FLAC__int32* const a = from[0];
  const FLAC__int32* const b = from[kChannels - 1];
  for (size_t i = 0; i < frames; ++i) {
    to[kChannels * i] = static_cast<float>(a[i]) * scale;
    to[kChannels * i + kChannels - 1] = static_cast<float>(b[i]) * scale;
  }
}

void Interleave(const FLAC__int32* const from[], size_t channels, size_t frames, float scale, float* to) {
  if (channels == 1) return InterleaveFixed<1>(from, frames, scale, to);
  if (channels == 2) return InterleaveFixed<2>(from, frames, scale, to);
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < frames; ++i) to[i * channels + c] = static_cast<float>(from[c][i]) * scale;
}

FLAC__StreamDecoderWriteStatus Write(const FLAC__StreamDecoder*, const FLAC__Frame* frame,
                                     const FLAC__int32* const buffer[], void* client) {
  auto& s = *static_cast<Stream*>(client);
  if (!s.status.ok())
    return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;  // after Error, libFLAC still delivers zeros
  s.status = Guard([&]() -> Status {
    TERN_TRY(CheckFrame(s, frame->header));
    const size_t channels = frame->header.channels, start = s.audio.samples.size();
    if (start == 0) ReserveSamples(s);
    s.audio.samples.resize(start + channels * frame->header.blocksize);
    const float scale = 1.0f / static_cast<float>(uint32_t{1} << (s.bits - 1));
    Interleave(buffer, channels, frame->header.blocksize, scale, s.audio.samples.data() + start);
    return {};
  });
  return s.status.ok() ? FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE : FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
}

void Metadata(const FLAC__StreamDecoder*, const FLAC__StreamMetadata* block, void* client) {
  auto& s = *static_cast<Stream*>(client);
  if (block->type != FLAC__METADATA_TYPE_STREAMINFO) return;
  const FLAC__StreamMetadata_StreamInfo& info = block->data.stream_info;
  s.total_frames = info.total_samples;
  s.audio.channels = static_cast<int>(info.channels);
  s.audio.sample_rate = static_cast<int>(info.sample_rate);
  s.bits = info.bits_per_sample;
}

// Bytes after the last frame, such as a tag of another program, are not an error.
void Error(const FLAC__StreamDecoder*, FLAC__StreamDecoderErrorStatus error, void* client) {
  auto& s = *static_cast<Stream*>(client);
  if (!s.status.ok() || Complete(s)) return;
  s.status = InvalidArgument("broken FLAC after ", s.audio.frames(),
                             " frames: ", FLAC__StreamDecoderErrorStatusString[error]);
}

// Decodes until the end, an error, or the last frame that the header announces.
Status DecodeAll(FLAC__StreamDecoder* decoder, Stream& s) {
  while (FLAC__stream_decoder_get_state(decoder) < FLAC__STREAM_DECODER_END_OF_STREAM && !Complete(s)) {
    const bool ok = FLAC__stream_decoder_process_single(decoder);
    if (!s.status.ok()) return s.status;
    if (!ok) return InvalidArgument("broken FLAC: ", FLAC__stream_decoder_get_resolved_state_string(decoder));
  }
  if (s.audio.channels < 1 || s.audio.sample_rate < 1) return InvalidArgument("broken FLAC: no stream info");
  if (s.audio.frames() < s.total_frames)
    return InvalidArgument("broken FLAC: the file ends after ", s.audio.frames(), " of ", s.total_frames,
                           " frames");
  if (!FLAC__stream_decoder_finish(decoder))
    return InvalidArgument("broken FLAC: the MD5 sum of the samples differs from the stored one");
  return {};
}

}  // namespace

bool IsFlac(std::string_view bytes) { return StartsWith(bytes, "fLaC"); }

Result<Audio> DecodeFlac(std::string_view bytes, size_t max_samples) {
  const std::unique_ptr<FLAC__StreamDecoder, void (*)(FLAC__StreamDecoder*)> decoder(
      FLAC__stream_decoder_new(), FLAC__stream_decoder_delete);
  if (!decoder) return ResourceExhausted("out of memory");
  Stream stream{bytes, 0, max_samples};
  FLAC__stream_decoder_set_md5_checking(decoder.get(), true);
  if (FLAC__stream_decoder_init_stream(decoder.get(), Read, nullptr, nullptr, nullptr, nullptr, Write,
                                       Metadata, Error, &stream) != FLAC__STREAM_DECODER_INIT_STATUS_OK)
    return ResourceExhausted("out of memory");
  TERN_TRY(DecodeAll(decoder.get(), stream));
  return std::move(stream.audio);
}

}  // namespace tern::data
