// Decodes PNG and JPEG. Checks sizes before it allocates memory, and converts the errors of libpng and
// libjpeg to a Status.
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "core/buffer.h"
#include "data/image/image.h"

namespace tern::data {
namespace {

constexpr uint64_t kMaxPixels = uint64_t{1} << 27;

// Fails if the image is too large, or if `bytes` bytes cannot encode that many pixels, so that no memory is
// allocated for a truncated or malicious file. `per_byte` is the largest number of pixels that one byte of
// the format can encode.
Status CheckSize(uint64_t width, uint64_t height, size_t bytes, uint64_t per_byte) {
  if (width == 0 || height == 0 || width > 1 << 20 || height > 1 << 20 || width * height > kMaxPixels)
    return InvalidArgument("a picture must have 1 to ", kMaxPixels, " pixels, got ", width, " x ", height);
  if (width * height > bytes * per_byte)
    return InvalidArgument("a picture of ", width, " x ", height, " pixels does not fit into a file of ",
                           bytes, " bytes");
  return {};
}

constexpr uint64_t kPngPixels = 8 * 1032;  // 8 pixels per byte, times the best compression ratio of deflate
constexpr uint64_t kJpegPixels = 64 * 8;   // a block of 64 pixels needs at least one bit
constexpr uint64_t kArithmeticGain = 64;   // with arithmetic coding, a block can need as little as 1/64 bit

Result<Image> DecodePng(std::string_view bytes) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  const auto broken = [&] {
    const Status status = InvalidArgument("broken PNG: ", png.message);
    png_image_free(&png);
    return status;
  };
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size())) return broken();
  const bool colour = png.format & PNG_FORMAT_FLAG_COLOR;
  if (Status status = CheckSize(png.width, png.height, bytes.size(), kPngPixels); !status.ok()) {
    png_image_free(&png);
    return status;
  }
  // The format includes alpha, because libpng would otherwise blend the picture with a background. The loop
  // below drops the alpha.
  png.format = colour ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;
  const size_t stored = colour ? 4 : 2, kept = stored - 1;
  const size_t pixels = size_t{png.width} * png.height;
  std::vector<uint8_t> raw(pixels * stored);
  Image image{static_cast<int>(png.width), static_cast<int>(png.height), static_cast<int>(kept),
              std::vector<uint8_t>(pixels * kept)};
  if (!png_image_finish_read(&png, nullptr, raw.data(), 0, nullptr)) return broken();
  for (size_t i = 0; i < pixels; ++i)
    std::memcpy(image.pixels.data() + i * kept, raw.data() + i * stored, kept);
  return image;
}

struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

extern "C" void JpegFail(j_common_ptr c) {
  auto* errors = reinterpret_cast<JpegErrors*>(c->err);
  c->err->format_message(c, errors->text);
  std::longjmp(errors->jump, 1);
}

// Fails if data is missing, which libjpeg would fill with grey. Ignores other warnings.
extern "C" void JpegMessage(j_common_ptr c, int level) {
  if (level < 0 && (c->err->msg_code == JWRN_JPEG_EOF || c->err->msg_code == JWRN_HIT_MARKER)) JpegFail(c);
}

// ReadJpegHeader and ReadJpegPixels have no objects with destructors, because longjmp skips destructors.
bool ReadJpegHeader(jpeg_decompress_struct& c, JpegErrors& errors, std::string_view bytes) {
  if (setjmp(errors.jump)) return false;
  jpeg_create_decompress(&c);
  jpeg_mem_src(&c, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&c, TRUE);
  return true;
}

bool ReadJpegPixels(jpeg_decompress_struct& c, JpegErrors& errors, uint8_t* pixels, size_t row) {
  if (setjmp(errors.jump)) return false;
  jpeg_start_decompress(&c);
  while (c.output_scanline < c.output_height) {
    JSAMPROW line = pixels + c.output_scanline * row;
    jpeg_read_scanlines(&c, &line, 1);
  }
  jpeg_finish_decompress(&c);
  return true;
}

Result<Image> DecodeJpeg(std::string_view bytes) {
  jpeg_decompress_struct c{};
  JpegErrors errors{};
  c.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = JpegFail;
  errors.base.emit_message = JpegMessage;
  struct Release {
    jpeg_decompress_struct& c;
    ~Release() { jpeg_destroy_decompress(&c); }
  } release{c};
  if (!ReadJpegHeader(c, errors, bytes))
    return InvalidArgument("broken JPEG: ", static_cast<const char*>(errors.text));
  const uint64_t per_byte = c.arith_code ? kJpegPixels * kArithmeticGain : kJpegPixels;
  TERN_TRY(CheckSize(c.image_width, c.image_height, bytes.size(), per_byte));
  if (c.num_components == 4) return Unsupported("a CMYK JPEG; save it as RGB");
  const int channels = c.num_components == 1 ? 1 : 3;
  c.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  const size_t row = size_t{c.image_width} * static_cast<size_t>(channels);
  Image image{static_cast<int>(c.image_width), static_cast<int>(c.image_height), channels,
              std::vector<uint8_t>(row * c.image_height)};
  if (!ReadJpegPixels(c, errors, image.pixels.data(), row))
    return InvalidArgument("broken JPEG: ", static_cast<const char*>(errors.text));
  return image;
}

}  // namespace

Result<Image> DecodeImage(std::string_view bytes, const DecodeOptions&) {
  return Guard([&]() -> Result<Image> {
    if (StartsWith(bytes, "\x89PNG")) return DecodePng(bytes);
    if (StartsWith(bytes, "\xff\xd8\xff")) return DecodeJpeg(bytes);
    return InvalidArgument("neither PNG nor JPEG");
  });
}

Result<Image> ReadImage(const std::string& path, const DecodeOptions& options) {
  TERN_ASSIGN(Buffer file, Buffer::MapFile(path));
  auto image = DecodeImage({reinterpret_cast<const char*>(file.data()), file.size()}, options);
  if (!image.ok()) return image.TakeStatus().While(StrCat("reading '", path, "'"));
  return image;
}

}  // namespace tern::data
