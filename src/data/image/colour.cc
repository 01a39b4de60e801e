// Conversions between colour spaces in the fixed-point arithmetic of Pillow.
#include <algorithm>

#include "data/image/transform.h"

namespace tern::data {
namespace {

constexpr int kBits = 6;  // the products of YCbCr are rounded to 1/64

using Table = std::array<int16_t, 256>;

// The cast rounds negative products up, as in Pillow.
Table Products(double factor, int zero) {
  Table t;
  for (int i = 0; i < 256; ++i)
    t[static_cast<size_t>(i)] = static_cast<int16_t>(factor * (i - zero) * (1 << kBits) + 0.5);
  return t;
}

uint8_t Clip(int v) { return static_cast<uint8_t>(std::clamp(v, 0, 255)); }

// Sums of products of the three elements of a pixel, for one element of the result.
struct Row {
  Table of[3];
  int Sum(const uint8_t* p) const { return (of[0][p[0]] + of[1][p[1]] + of[2][p[2]]) >> kBits; }
};

}  // namespace

Image WithChannels(const Image& image, int channels) {
  if (image.channels == channels) return image;
  Image out(image.width, image.height, channels);
  const size_t pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height);
  if (channels == 3) {
    for (size_t i = 0; i < pixels; ++i) std::fill_n(out.pixels.data() + 3 * i, 3, image.pixels[i]);
    return out;
  }
  const uint8_t* p = image.pixels.data();
  for (size_t i = 0; i < pixels; ++i, p += 3)
    out.pixels[i] = static_cast<uint8_t>((p[0] * 19595 + p[1] * 38470 + p[2] * 7471 + 0x8000) >> 16);
  return out;
}

Image SwapRedBlue(Image image) {
  if (image.channels == 3)
    for (size_t i = 0; i + 2 < image.pixels.size(); i += 3) std::swap(image.pixels[i], image.pixels[i + 2]);
  return image;
}

Image RgbToYCbCr(const Image& image) {
  const Row y{{Products(0.299, 0), Products(0.587, 0), Products(0.114, 0)}},
      cb{{Products(-0.16874, 0), Products(-0.33126, 0), Products(0.5, 0)}},
      cr{{Products(0.5, 0), Products(-0.41869, 0), Products(-0.08131, 0)}};
  Image out = WithChannels(image, 3);
  for (size_t i = 0; i < out.pixels.size(); i += 3) {
    uint8_t* p = out.pixels.data() + i;
    const int v[3] = {y.Sum(p), cb.Sum(p) + 128, cr.Sum(p) + 128};
    for (int c = 0; c < 3; ++c) p[c] = Clip(v[c]);
  }
  return out;
}

Image YCbCrToRgb(const Image& image) {
  const Table red = Products(1.402, 128), green_cb = Products(-0.34414, 128),
              green_cr = Products(-0.71414, 128), blue = Products(1.772, 128);
  Image out = WithChannels(image, 3);
  for (size_t i = 0; i < out.pixels.size(); i += 3) {
    uint8_t* p = out.pixels.data() + i;
    const int y = p[0], cb = p[1], cr = p[2];
    const auto at = [](const Table& t, int index) { return t[static_cast<size_t>(index)]; };
    p[0] = Clip(y + (at(red, cr) >> kBits));
    p[1] = Clip(y + ((at(green_cb, cb) + at(green_cr, cr)) >> kBits));
    p[2] = Clip(y + (at(blue, cb) >> kBits));
  }
  return out;
}

}  // namespace tern::data
