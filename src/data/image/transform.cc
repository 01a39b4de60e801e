#include "data/image/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tern::data {
namespace {

std::string Describe(const Image& image) { return StrCat(image.width, " x ", image.height); }

void CopyPixel(const uint8_t* from, int channels, uint8_t* to) {
  for (int c = 0; c < channels; ++c) to[c] = from[c];
}

// Makes a picture whose pixel (x, y) is the source pixel at(x, y).
template <class At> Image Rearrange(const Image& image, int width, int height, At at) {
  Image out(width, height, image.channels);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) CopyPixel(at(x, y), image.channels, out.at(x, y));
  return out;
}

// Python's round(n / 2): ties go to even.
int HalfToEven(int n) { return static_cast<int>(std::nearbyint(n / 2.0)); }

}  // namespace

Image::Image(int w, int h, int c)
    : width(w),
      height(h),
      channels(c),
      pixels(static_cast<size_t>(w) * static_cast<size_t>(h) * static_cast<size_t>(c)) {}

Result<Image> Crop(const Image& image, int left, int top, int width, int height) {
  const bool inside = left >= 0 && top >= 0 && width > 0 && height > 0 && width <= image.width &&
                      height <= image.height && left <= image.width - width && top <= image.height - height;
  if (!inside)
    return InvalidArgument("cannot crop ", width, "x", height, " at ", left, ",", top, " from a picture of ",
                           image.width, "x", image.height);
  Image out(width, height, image.channels);
  for (int y = 0; y < height; ++y) std::memcpy(out.at(0, y), image.at(left, top + y), out.row_bytes());
  return out;
}

Corner CentreCorner(Size image, Size crop) {
  return {HalfToEven(image.width - crop.width), HalfToEven(image.height - crop.height)};
}

Result<Image> CropCentre(const Image& image, int width, int height) {
  if (width > image.width || height > image.height)
    return InvalidArgument("cannot crop ", width, "x", height, " from a picture of ", image.width, "x",
                           image.height);
  const Corner at = CentreCorner({image.width, image.height}, {width, height});
  return Crop(image, at.left, at.top, width, height);
}

Result<Image> Pad(const Image& image, int left, int top, int right, int bottom,
                  std::array<uint8_t, 3> colour) {
  const int64_t width = int64_t{image.width} + left + right, height = int64_t{image.height} + top + bottom;
  if (std::min({left, top, right, bottom}) < 0 || width > kMaxSide || height > kMaxSide)
    return InvalidArgument("cannot pad a picture of ", Describe(image), " by ", left, ", ", top, ", ", right,
                           ", ", bottom, "; sides of at most ", kMaxSide, " are possible");
  Image out(static_cast<int>(width), static_cast<int>(height), image.channels);
  for (size_t i = 0; i < out.pixels.size(); ++i)
    out.pixels[i] = colour[i % static_cast<size_t>(image.channels)];
  for (int y = 0; y < image.height; ++y)
    std::memcpy(out.at(left, top + y), image.at(0, y), image.row_bytes());
  return out;
}

Image FlipHorizontal(const Image& image) {
  return Rearrange(image, image.width, image.height,
                   [&](int x, int y) { return image.at(image.width - 1 - x, y); });
}

Image FlipVertical(const Image& image) {
  return Rearrange(image, image.width, image.height,
                   [&](int x, int y) { return image.at(x, image.height - 1 - y); });
}

Image Rotate90(const Image& image, int quarter_turns) {
  const int w = image.width, h = image.height;
  switch (((quarter_turns % 4) + 4) % 4) {
    case 1:
      return Rearrange(image, h, w, [&](int x, int y) { return image.at(w - 1 - y, x); });
    case 2:
      return Rearrange(image, w, h, [&](int x, int y) { return image.at(w - 1 - x, h - 1 - y); });
    case 3:
      return Rearrange(image, h, w, [&](int x, int y) { return image.at(y, h - 1 - x); });
    default:
      return image;
  }
}

Image ApplyOrientation(Image image, int orientation) {
  switch (orientation) {
    case 2:
      return FlipHorizontal(image);
    case 3:
      return Rotate90(image, 2);
    case 4:
      return FlipVertical(image);
    case 5:  // mirrored along the main diagonal
      return FlipVertical(Rotate90(image, 1));
    case 6:
      return Rotate90(image, 3);
    case 7:
      return FlipVertical(Rotate90(image, 3));
    case 8:
      return Rotate90(image, 1);
    default:
      return image;
  }
}

}  // namespace tern::data
