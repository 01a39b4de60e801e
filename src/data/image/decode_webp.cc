// Decodes WebP with libwebp. Decodes the first frame of an animation.
#include <webp/decode.h>
#include <webp/demux.h>

#include <cstring>
#include <memory>

#include "data/image/formats.h"

namespace tern::data {
namespace {

const uint8_t* DataOf(std::string_view bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }

int OrientationOf(std::string_view bytes) {
  const WebPData data{DataOf(bytes), bytes.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> demuxer(WebPDemux(&data), WebPDemuxDelete);
  WebPChunkIterator chunk{};
  if (!demuxer || !WebPDemuxGetChunk(demuxer.get(), "EXIF", 1, &chunk)) return 1;
  const int orientation =
      ExifOrientation({reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size});
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

Result<Image> FirstFrame(std::string_view bytes, int width, int height) {
  const WebPData data{DataOf(bytes), bytes.size()};
  WebPAnimDecoderOptions options;
  if (!WebPAnimDecoderOptionsInit(&options))
    return Status(Code::kInternal, "libwebpdemux has another version");
  options.color_mode = MODE_RGBA;
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
      WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
  uint8_t* canvas = nullptr;
  int time = 0;
  if (!decoder || !WebPAnimDecoderGetNext(decoder.get(), &canvas, &time))
    return InvalidArgument("broken WebP: the first frame of the animation cannot be decoded");
  Image out(width, height, 3);
  for (size_t i = 0, pixels = out.pixels.size() / 3; i < pixels; ++i)
    std::memcpy(out.pixels.data() + 3 * i, canvas + 4 * i, 3);
  return out;
}

Result<Image> Still(std::string_view bytes, int width, int height) {
  Image out(width, height, 3);
  if (!WebPDecodeRGBInto(DataOf(bytes), bytes.size(), out.pixels.data(), out.pixels.size(), 3 * width))
    return InvalidArgument("broken WebP: the data of ", width, " x ", height,
                           " pixels is damaged or ends too early, in a file of ", bytes.size(), " bytes");
  return out;
}

}  // namespace

Result<Decoded> DecodeWebp(std::string_view bytes, const DecodeOptions& options) {
  WebPBitstreamFeatures features;
  if (const VP8StatusCode code = WebPGetFeatures(DataOf(bytes), bytes.size(), &features);
      code != VP8_STATUS_OK)
    return InvalidArgument(code == VP8_STATUS_NOT_ENOUGH_DATA ? "broken WebP: the file ends in its header"
                                                              : "broken WebP: the header is damaged");
  TERN_TRY(CheckPixels(static_cast<uint64_t>(features.width), static_cast<uint64_t>(features.height), options,
                       bytes.size(), 0));
  auto image = features.has_animation ? FirstFrame(bytes, features.width, features.height)
                                      : Still(bytes, features.width, features.height);
  if (!image.ok()) return image.TakeStatus();
  return Decoded{std::move(*image), OrientationOf(bytes)};
}

}  // namespace tern::data
