// Decodes PNG with libpng, and converts its errors to a Status.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "data/image/formats.h"

namespace tern::data {
namespace {

constexpr uint64_t kPngPixelsPerByte = 8 * 1032;  // 8 pixels per byte, times the best ratio of deflate

struct Source {
  std::string_view bytes;
  size_t at = 0;
  char text[128] = "";
};

extern "C" void PngFail(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source->text, message, sizeof source->text - 1);
  png_longjmp(png, 1);
}

extern "C" void PngWarn(png_structp, png_const_charp) {}

extern "C" void PngRead(png_structp png, png_bytep to, size_t n) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (n > source->bytes.size() - source->at) png_error(png, "the file ends too early");
  std::memcpy(to, source->bytes.data() + source->at, n);
  source->at += n;
}

struct PngReader {
  Source source;
  png_structp png = nullptr;
  png_infop info = nullptr;
  explicit PngReader(std::string_view bytes) : source{bytes} {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, PngFail, PngWarn);
    if (png) info = png_create_info_struct(png);
    if (!info) throw std::bad_alloc();
  }
  PngReader(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  Status Broken() const {
    return InvalidArgument("broken PNG at byte ", source.at, ": ", static_cast<const char*>(source.text));
  }
};

// ReadHeader and ReadPixels have no objects with destructors, because longjmp skips destructors.
bool ReadHeader(PngReader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_read_fn(r.png, &r.source, PngRead);
  png_set_user_limits(r.png, 1 << 20, 1 << 20);
  png_set_chunk_malloc_max(r.png, 1 << 23);
  png_set_chunk_cache_max(r.png, 1);  // skips texts, which could each inflate to 8 MiB
  png_read_info(r.png, r.info);
  // All types become grey or RGB of 8 bits. Alpha channels are dropped, and transparent colours do not add
  // one.
  png_set_expand_gray_1_2_4_to_8(r.png);
  if (png_get_color_type(r.png, r.info) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(r.png);
  png_set_strip_16(r.png);
  png_set_strip_alpha(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool ReadPixels(PngReader& r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_image(r.png, rows);
  png_read_end(r.png, r.info);
  return true;
}

int OrientationOf(PngReader& r) {
  png_uint_32 size = 0;
  png_bytep exif = nullptr;
  if (!png_get_eXIf_1(r.png, r.info, &size, &exif)) return 1;
  return ExifOrientation({reinterpret_cast<const char*>(exif), size});
}

}  // namespace

Result<Decoded> DecodePng(std::string_view bytes, const DecodeOptions& options) {
  PngReader reader(bytes);
  if (!ReadHeader(reader)) return reader.Broken();
  const uint64_t width = png_get_image_width(reader.png, reader.info),
                 height = png_get_image_height(reader.png, reader.info);
  TERN_TRY(CheckPixels(width, height, options, bytes.size(), kPngPixelsPerByte));
  const int channels = png_get_channels(reader.png, reader.info);
  TERN_CHECK(channels == 1 || channels == 3, "a PNG of ", channels, " channels");
  Decoded out{Image(static_cast<int>(width), static_cast<int>(height), channels), 1};
  TERN_CHECK(png_get_rowbytes(reader.png, reader.info) == out.image.row_bytes(), "row bytes of a PNG");
  std::vector<png_bytep> rows;
  for (int y = 0; y < out.image.height; ++y) rows.push_back(out.image.at(0, y));
  if (!ReadPixels(reader, rows.data())) return reader.Broken();
  out.orientation = OrientationOf(reader);
  return out;
}

}  // namespace tern::data
