// Resizes pictures. The results are equal to those of Pillow's Image.resize.
#pragma once
#include <string_view>

#include "data/image/image.h"

namespace tern::data {

enum class Filter { kNearest, kBox, kBilinear, kHamming, kBicubic, kLanczos };
Result<Filter> FilterFromName(std::string_view name);  // "nearest", "box", "bilinear", …
const char* NameOf(Filter filter);

struct Size {
  int width = 0, height = 0;
};
constexpr int kMaxSide = 1 << 15;  // of a picture that is made by resizing or padding

// A rectangle in pixels of the source picture. Sides need not be integers.
struct SourceBox {
  double left = 0, top = 0, right = 0, bottom = 0;
};

// The centre of pixel i is at i + 0.5. When a picture shrinks, the support of the filter is multiplied by the
// ratio of the sizes, which avoids aliasing. Both passes round to 8 bits. Sizes must be 1 to kMaxSide.
Image Resize(const Image& image, int width, int height, Filter filter = Filter::kBilinear);
// Resizes the rectangle `box` of the picture. Fails if the box is empty or not inside of the picture.
Result<Image> ResizeBox(const Image& image, const SourceBox& box, int width, int height, Filter filter);

// Returns the size with the shorter side `side` and the same aspect ratio. The longer side is rounded down,
// as in torchvision. Fails if a side would be larger than kMaxSide.
Result<Size> ShorterSide(Size from, int side);
// Returns the largest size with the same aspect ratio that fits into `limit`, as in Pillow's
// ImageOps.contain. A picture may grow.
Result<Size> FitInside(Size from, Size limit);

}  // namespace tern::data
