// Decodes pictures: JPEG, PNG, WebP, BMP and the first frame of GIF.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {

struct Image {
  int width = 0, height = 0, channels = 0;  // `channels` is 1 for grey, 3 for RGB
  std::vector<uint8_t> pixels;              // row by row; the channels of a pixel are adjacent
  Image() = default;
  Image(int w, int h, int c, std::vector<uint8_t> p)
      : width(w), height(h), channels(c), pixels(std::move(p)) {}
  Image(int w, int h, int c);  // black
  size_t row_bytes() const { return static_cast<size_t>(width) * static_cast<size_t>(channels); }
  uint8_t* at(int x, int y) {
    return pixels.data() + (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) *
                               static_cast<size_t>(channels);
  }
  const uint8_t* at(int x, int y) const { return const_cast<Image*>(this)->at(x, y); }
};

enum class ImageFormat { kUnknown, kJpeg, kPng, kWebp, kBmp, kGif };
// Returns the format that the first bytes identify.
ImageFormat DetectImageFormat(std::string_view bytes);
const char* NameOf(ImageFormat format);  // "JPEG", …, "unknown"

struct DecodeOptions {
  uint64_t max_pixels = uint64_t{1} << 27;  // a larger picture fails before its pixels are allocated
  bool apply_orientation = true;            // rotates and flips according to the EXIF orientation
  // Decodes a JPEG at 1/2, 1/4 or 1/8 of its size, if both sides stay at least this long. 0 decodes at full
  // size. A picture that is scaled in this way differs from one that is resized.
  int jpeg_least_side = 0;
};

// Detects the format by the first bytes. Samples of 16 bits are converted to 8 bits. An alpha channel or
// transparent colour is dropped. CMYK is converted to RGB. Fails if the file is damaged, or if it has more
// pixels than `max_pixels` or than its bytes can encode.
Result<Image> DecodeImage(std::string_view bytes, const DecodeOptions& options = {});
Result<Image> ReadImage(const std::string& path, const DecodeOptions& options = {});

}  // namespace tern::data
