// Decodes JPEG with libjpeg, and converts its errors to a Status.
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>

#include "data/image/formats.h"

namespace tern::data {
namespace {

constexpr uint64_t kJpegPixelsPerByte = 64 * 8;  // a block of 64 pixels needs at least one bit
constexpr uint64_t kArithmeticGain = 64;  // with arithmetic coding, a block can need as little as 1/64 bit

constexpr int kMaxScans = 200;  // encoders write about 10

struct JpegErrors {
  jpeg_error_mgr base;
  jpeg_progress_mgr progress;
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

// Limits the scans of a progressive JPEG, because each scan passes over all blocks, however few bytes it has.
extern "C" void JpegProgress(j_common_ptr c) {
  if (reinterpret_cast<j_decompress_ptr>(c)->input_scan_number <= kMaxScans) return;
  auto* errors = reinterpret_cast<JpegErrors*>(c->err);
  std::snprintf(errors->text, sizeof errors->text, "it has more than %d scans", kMaxScans);
  std::longjmp(errors->jump, 1);
}

// ReadHeader and ReadPixels have no objects with destructors, because longjmp skips destructors.
bool ReadHeader(jpeg_decompress_struct& c, JpegErrors& errors, std::string_view bytes) {
  if (setjmp(errors.jump)) return false;
  jpeg_create_decompress(&c);
  errors.progress.progress_monitor = JpegProgress;
  c.progress = &errors.progress;
  jpeg_mem_src(&c, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_save_markers(&c, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&c, TRUE);
  return true;
}

bool Start(jpeg_decompress_struct& c, JpegErrors& errors) {
  if (setjmp(errors.jump)) return false;
  jpeg_start_decompress(&c);
  return true;
}

bool ReadPixels(jpeg_decompress_struct& c, JpegErrors& errors, uint8_t* pixels, size_t row) {
  if (setjmp(errors.jump)) return false;
  while (c.output_scanline < c.output_height) {
    JSAMPROW lines[8];
    const JDIMENSION count = std::min<JDIMENSION>(8, c.output_height - c.output_scanline);
    for (JDIMENSION i = 0; i < count; ++i) lines[i] = pixels + (c.output_scanline + i) * row;
    jpeg_read_scanlines(&c, lines, count);
  }
  jpeg_finish_decompress(&c);
  return true;
}

int OrientationOf(const jpeg_decompress_struct& c) {
  for (jpeg_saved_marker_ptr m = c.marker_list; m; m = m->next) {
    const std::string_view data(reinterpret_cast<const char*>(m->data), m->data_length);
    if (StartsWith(data, "Exif")) return ExifOrientation(data);
  }
  return 1;
}

// Converts inverted CMYK, as Adobe writes it, to RGB with the formula of Pillow.
Image FromCmyk(const Image& cmyk) {
  Image out(cmyk.width, cmyk.height, 3);
  const uint8_t* p = cmyk.pixels.data();
  for (size_t i = 0; i < out.pixels.size(); i += 3, p += 4) {
    const int white = p[3];
    for (size_t c = 0; c < 3; ++c) {
      const int product = (255 - p[c]) * white + 128;
      out.pixels[i + c] = static_cast<uint8_t>(std::max(0, white - (((product >> 8) + product) >> 8)));
    }
  }
  return out;
}

int LargestScale(const jpeg_decompress_struct& c, int least) {
  for (const int divisor : {8, 4, 2})
    if (least > 0 && std::min(c.image_width, c.image_height) / static_cast<unsigned>(divisor) >=
                         static_cast<unsigned>(least))
      return divisor;
  return 1;
}

// libjpeg allocates two bytes per sample for a progressive JPEG and frees them after the picture. glibc
// returns the free end of the heap to the system if it is twice as large as the largest block that was freed
// so far. Then the next picture would cause a page fault for each of its pages, which takes a fifth of the
// time of decoding.
void KeepHeapFor(size_t bytes) {
  constexpr size_t kLargest = size_t{32} << 20;                   // glibc does not learn from larger blocks
  void* volatile block = std::malloc(std::min(bytes, kLargest));  // volatile: the compiler must not remove it
  std::free(block);
}

struct JpegReader {
  jpeg_decompress_struct c{};
  JpegErrors errors{};
  JpegReader() {
    c.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = JpegFail;
    errors.base.emit_message = JpegMessage;
  }
  JpegReader(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&c); }
  Status Broken() const { return InvalidArgument("broken JPEG: ", static_cast<const char*>(errors.text)); }
};

}  // namespace

Result<Decoded> DecodeJpeg(std::string_view bytes, const DecodeOptions& options) {
  JpegReader reader;
  jpeg_decompress_struct& c = reader.c;
  if (!ReadHeader(c, reader.errors, bytes)) return reader.Broken();
  const uint64_t per_byte = c.arith_code ? kJpegPixelsPerByte * kArithmeticGain : kJpegPixelsPerByte;
  TERN_TRY(CheckPixels(c.image_width, c.image_height, options, bytes.size(), per_byte));
  const int channels = c.num_components;
  if (channels != 1 && channels != 3 && channels != 4)
    return Unsupported("a JPEG of ", channels, " components; 1, 3 and 4 are supported");
  c.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  c.scale_num = 1;
  c.scale_denom = static_cast<unsigned>(LargestScale(c, options.jpeg_least_side));
  if (c.progressive_mode)
    KeepHeapFor(size_t{c.image_width} * c.image_height * static_cast<size_t>(channels) * 4);
  if (!Start(c, reader.errors)) return reader.Broken();
  Decoded out{Image(static_cast<int>(c.output_width), static_cast<int>(c.output_height), channels),
              OrientationOf(c)};
  if (!ReadPixels(c, reader.errors, out.image.pixels.data(), out.image.row_bytes())) return reader.Broken();
  if (channels == 4) out.image = FromCmyk(out.image);
  return out;
}

}  // namespace tern::data
