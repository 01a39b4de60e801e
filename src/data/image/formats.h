// The decoders of the picture formats, and their common functions.
#pragma once
#include <cstdint>
#include <string_view>

#include "data/image/image.h"

namespace tern::data {

// A picture and its EXIF orientation, which is 1 if the file has none.
struct Decoded {
  Image image;
  int orientation = 1;
};

Result<Decoded> DecodeJpeg(std::string_view bytes, const DecodeOptions& options);
Result<Decoded> DecodePng(std::string_view bytes, const DecodeOptions& options);
Result<Decoded> DecodeWebp(std::string_view bytes, const DecodeOptions& options);
Result<Decoded> DecodeBmp(std::string_view bytes, const DecodeOptions& options);
Result<Decoded> DecodeGif(std::string_view bytes, const DecodeOptions& options);

// Called before memory for the pixels is allocated, because the file may be truncated or malicious. Fails if
// the picture has no pixels, too many pixels or a side above 2^20, or if `bytes` bytes cannot encode that
// many pixels. `per_byte` is the largest number of pixels that one byte of the format can encode; 0 if there
// is no such limit.
Status CheckPixels(uint64_t width, uint64_t height, const DecodeOptions& options, size_t bytes,
                   uint64_t per_byte);

// Returns the orientation, 1 to 8, from EXIF data, which starts with "II*" or "MM", optionally after
// "Exif\0\0". Returns 1 if it is missing or damaged.
int ExifOrientation(std::string_view exif);

// Reads little-endian numbers. Reads beyond the end fail and return 0.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  uint32_t U8() { return Read(1); }
  uint32_t U16() { return Read(2); }
  uint32_t U32() { return Read(4); }
  // Returns `n` bytes, or nothing if fewer are left.
  std::string_view Take(size_t n) {
    if (n > left()) {
      failed_ = true;
      at_ = bytes_.size();
      return {};
    }
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  bool failed() const { return failed_; }

 private:
  uint32_t Read(size_t n) {
    uint32_t v = 0;
    const std::string_view b = Take(n);
    for (size_t i = b.size(); i-- > 0;) v = v << 8 | static_cast<uint8_t>(b[i]);
    return v;
  }
  std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace tern::data
