#include "core/buffer.h"
#include "data/image/formats.h"
#include "data/image/transform.h"

namespace tern::data {
namespace {

constexpr uint64_t kLongestSide = 1 << 20;

Result<Decoded> Decode(std::string_view bytes, const DecodeOptions& options) {
  switch (DetectImageFormat(bytes)) {
    case ImageFormat::kJpeg:
      return DecodeJpeg(bytes, options);
    case ImageFormat::kPng:
      return DecodePng(bytes, options);
    case ImageFormat::kWebp:
      return DecodeWebp(bytes, options);
    case ImageFormat::kBmp:
      return DecodeBmp(bytes, options);
    case ImageFormat::kGif:
      return DecodeGif(bytes, options);
    default:
      return InvalidArgument("neither JPEG, PNG, WebP, BMP nor GIF: the ", bytes.size(),
                             " bytes do not start like one of these formats");
  }
}

}  // namespace

ImageFormat DetectImageFormat(std::string_view bytes) {
  if (StartsWith(bytes, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (StartsWith(bytes, "\x89PNG")) return ImageFormat::kPng;
  if (StartsWith(bytes, "RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP")
    return ImageFormat::kWebp;
  if (StartsWith(bytes, "GIF87a") || StartsWith(bytes, "GIF89a")) return ImageFormat::kGif;
  if (StartsWith(bytes, "BM")) return ImageFormat::kBmp;
  return ImageFormat::kUnknown;
}

const char* NameOf(ImageFormat format) {
  constexpr const char* names[] = {"unknown", "JPEG", "PNG", "WebP", "BMP", "GIF"};
  return names[static_cast<int>(format)];
}

Status CheckPixels(uint64_t width, uint64_t height, const DecodeOptions& options, size_t bytes,
                   uint64_t per_byte) {
  if (width == 0 || height == 0 || width > kLongestSide || height > kLongestSide ||
      width * height > options.max_pixels)
    return InvalidArgument("a picture must have 1 to ", options.max_pixels, " pixels and sides of at most ",
                           kLongestSide, ", got ", width, " x ", height);
  if (per_byte && width * height > bytes * per_byte)
    return InvalidArgument("a picture of ", width, " x ", height, " pixels does not fit into a file of ",
                           bytes, " bytes");
  return {};
}

Result<Image> DecodeImage(std::string_view bytes, const DecodeOptions& options) {
  return Guard([&]() -> Result<Image> {
    TERN_ASSIGN(Decoded decoded, Decode(bytes, options));
    if (!options.apply_orientation) return std::move(decoded.image);
    return ApplyOrientation(std::move(decoded.image), decoded.orientation);
  });
}

Result<Image> ReadImage(const std::string& path, const DecodeOptions& options) {
  TERN_ASSIGN(Buffer file, Buffer::MapFile(path));
  auto image = DecodeImage({reinterpret_cast<const char*>(file.data()), file.size()}, options);
  if (!image.ok()) return image.TakeStatus().While(StrCat("reading '", path, "'"));
  return image;
}

}  // namespace tern::data
