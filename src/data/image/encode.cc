#include "data/image/encode.h"

#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstdlib>

#include "data/file.h"

namespace tern::data {
namespace {

Status CheckImage(const Image& image) {
  const bool good = image.width > 0 && image.height > 0 && (image.channels == 1 || image.channels == 3) &&
                    image.pixels.size() == image.row_bytes() * static_cast<size_t>(image.height);
  if (good) return {};
  return InvalidArgument("cannot write a picture of ", image.width, " x ", image.height, " pixels with ",
                         image.channels, " channels and ", image.pixels.size(), " bytes");
}

struct EncodeErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

extern "C" void JpegWriteFail(j_common_ptr c) {
  auto* errors = reinterpret_cast<EncodeErrors*>(c->err);
  c->err->format_message(c, errors->text);
  std::longjmp(errors->jump, 1);
}

// Has no objects with destructors, because longjmp skips destructors.
bool Compress(jpeg_compress_struct& c, EncodeErrors& errors, const Image& image, int quality,
              unsigned char** data, unsigned long* size) {
  if (setjmp(errors.jump)) return false;
  jpeg_create_compress(&c);
  jpeg_mem_dest(&c, data, size);
  c.image_width = static_cast<JDIMENSION>(image.width);
  c.image_height = static_cast<JDIMENSION>(image.height);
  c.input_components = image.channels;
  c.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, quality, TRUE);
  jpeg_start_compress(&c, TRUE);
  while (c.next_scanline < c.image_height) {
    JSAMPROW row = const_cast<uint8_t*>(image.at(0, static_cast<int>(c.next_scanline)));
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  return true;
}

bool HasEnding(const std::string& path, std::string_view ending) {
  std::string lower = path;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return EndsWith(lower, ending);
}

}  // namespace

Result<std::string> EncodePng(const Image& image) {
  TERN_TRY(CheckImage(image));
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string out(size, '\0');
  if (!png_image_write_to_memory(&png, out.data(), &size, 0, image.pixels.data(), 0, nullptr))
    return Status(Code::kInternal, StrCat("libpng: ", static_cast<const char*>(png.message)));
  out.resize(size);
  return out;
}

Result<std::string> EncodeJpeg(const Image& image, int quality) {
  TERN_TRY(CheckImage(image));
  if (quality < 1 || quality > 100) return InvalidArgument("the quality ", quality, " is not from 1 to 100");
  if (image.width > JPEG_MAX_DIMENSION || image.height > JPEG_MAX_DIMENSION)
    return InvalidArgument("a JPEG has sides of at most ", JPEG_MAX_DIMENSION, " pixels, got ", image.width,
                           " x ", image.height);
  jpeg_compress_struct c{};
  EncodeErrors errors{};
  c.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = JpegWriteFail;
  unsigned char* data = nullptr;
  unsigned long size = 0;
  const bool done = Compress(c, errors, image, quality, &data, &size);
  jpeg_destroy_compress(&c);
  std::string out(reinterpret_cast<char*>(data), done ? size : 0);
  std::free(data);
  if (!done) return Status(Code::kInternal, StrCat("libjpeg: ", static_cast<const char*>(errors.text)));
  return out;
}

Status WriteImage(const std::string& path, const Image& image) {
  return Guard([&]() -> Status {
    Result<std::string> bytes =
        InvalidArgument("cannot write '", path, "': the name must end in .png, .jpg or .jpeg");
    if (HasEnding(path, ".png")) bytes = EncodePng(image);
    if (HasEnding(path, ".jpg") || HasEnding(path, ".jpeg")) bytes = EncodeJpeg(image);
    if (!bytes.ok()) return bytes.TakeStatus();
    return WriteFile(path, *bytes);
  });
}

}  // namespace tern::data
