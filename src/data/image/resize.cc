#include "data/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/image/resampler.h"

namespace tern::data {
namespace {

constexpr std::pair<const char*, Filter> kNames[] = {
    {"nearest", Filter::kNearest}, {"box", Filter::kBox},         {"bilinear", Filter::kBilinear},
    {"hamming", Filter::kHamming}, {"bicubic", Filter::kBicubic}, {"lanczos", Filter::kLanczos}};

Image ResizePart(const Image& image, const SourceBox& box, int width, int height, Filter filter) {
  const Resampler rows(image, box, {width, height}, filter, {0, 0, width, height});
  Image out(width, height, image.channels);
  for (int y = 0; y < height; ++y) {
    const uint8_t* row = rows.Row(y, out.at(0, y));
    if (row != out.at(0, y)) std::memcpy(out.at(0, y), row, out.row_bytes());
  }
  return out;
}

bool ValidSide(int64_t side) { return side >= 1 && side <= kMaxSide; }

Result<Size> Checked(Size from, int64_t width, int64_t height) {
  if (!ValidSide(width) || !ValidSide(height))
    return InvalidArgument("resizing a picture of ", from.width, " x ", from.height, " gives ", width, " x ",
                           height, " pixels; sides of 1 to ", kMaxSide, " are possible");
  return Size{static_cast<int>(width), static_cast<int>(height)};
}

}  // namespace

Result<Filter> FilterFromName(std::string_view name) {
  for (const auto& [text, filter] : kNames)
    if (name == text) return filter;
  return InvalidArgument("unknown filter '", name,
                         "'; choose one of nearest, box, bilinear, hamming, bicubic, lanczos");
}

const char* NameOf(Filter filter) {
  for (const auto& [text, value] : kNames)
    if (filter == value) return text;
  return "unknown";
}

Image Resize(const Image& image, int width, int height, Filter filter) {
  TERN_CHECK(ValidSide(width) && ValidSide(height) && image.width > 0 && image.height > 0, "resize to ",
             width, " x ", height);
  if (image.width == width && image.height == height) return image;
  return ResizePart(image, {0, 0, static_cast<double>(image.width), static_cast<double>(image.height)}, width,
                    height, filter);
}

Result<Image> ResizeBox(const Image& image, const SourceBox& box, int width, int height, Filter filter) {
  return Guard([&]() -> Result<Image> {
    TERN_TRY(Checked({image.width, image.height}, width, height).TakeStatus());
    const bool inside = box.left >= 0 && box.top >= 0 && box.right <= image.width &&
                        box.bottom <= image.height && box.left < box.right && box.top < box.bottom;
    if (!inside)
      return InvalidArgument("the box ", box.left, ", ", box.top, ", ", box.right, ", ", box.bottom,
                             " is empty or not inside of a picture of ", image.width, " x ", image.height);
    return ResizePart(image, box, width, height, filter);
  });
}

Result<Size> ShorterSide(Size from, int side) {
  if (from.width < 1 || from.height < 1) return InvalidArgument("an empty picture cannot be resized");
  const int64_t shorter = std::min(from.width, from.height), longer = std::max(from.width, from.height);
  const int64_t scaled = longer * side / shorter;
  return from.width <= from.height ? Checked(from, side, scaled) : Checked(from, scaled, side);
}

// The ratios are compared and the sides are rounded as in Pillow, where round() takes ties to even.
Result<Size> FitInside(Size from, Size limit) {
  if (from.width < 1 || from.height < 1) return InvalidArgument("an empty picture cannot be resized");
  TERN_TRY(Checked(from, limit.width, limit.height).TakeStatus());
  const double ratio = static_cast<double>(from.width) / from.height,
               wanted = static_cast<double>(limit.width) / limit.height;
  if (ratio > wanted)
    limit.height = std::max(
        1, static_cast<int>(std::nearbyint(static_cast<double>(from.height) / from.width * limit.width)));
  else if (ratio < wanted)
    limit.width = std::max(
        1, static_cast<int>(std::nearbyint(static_cast<double>(from.width) / from.height * limit.height)));
  return limit;
}

}  // namespace tern::data
