// Converts a picture to a model's input in one pass: resize, crop, pad, colour, normalise and layout. Only
// the pixels that the crop keeps are computed.
#pragma once
#include <array>
#include <vector>

#include "core/tensor.h"
#include "data/image/resize.h"

namespace tern::data {

enum class Fit {
  kKeep,         // keeps the size
  kStretch,      // resizes to size.width x size.height
  kShorterSide,  // resizes the shorter side to size.width and keeps the aspect ratio
  kInside,       // resizes to fit into `size` and keeps the aspect ratio
  kLetterbox,    // as kInside, then pads to `size` with `pad_colour`, the picture in the centre
  kPadEnd,       // as kLetterbox, with the picture in the upper left corner
};
enum class Colour { kRgb, kBgr, kGray, kYCbCr };
enum class Layout { kNchw, kNhwc };

struct PixelOptions {
  Fit fit = Fit::kKeep;
  Size size;
  Filter filter = Filter::kBilinear;
  Size crop;  // from the centre, after resizing; 0 x 0 keeps all
  bool flip_horizontal = false;
  std::array<uint8_t, 3> pad_colour = {114, 114, 114};  // in RGB
  Colour colour = Colour::kRgb;
  // An element is (pixel * scale - mean) / std. `mean` and `std` have no value, one value, or one value per
  // channel, in the order of the channels in the tensor.
  double scale = 1.0 / 255;
  std::vector<double> mean, std;
  Layout layout = Layout::kNchw;
  DType dtype = DType::kF32;  // a float or an integer; integers are rounded to nearest
};

// Where the source picture is in the tensor: x_in_tensor = x_in_picture * scale_x + offset_x. If the picture
// is mirrored, scale_x is negative.
struct Placement {
  double scale_x = 1, scale_y = 1, offset_x = 0, offset_y = 0;
  Size picture;  // the source picture
  Size tensor;   // the width and height of the tensor
};

struct Pixels {
  Tensor tensor;  // [1, C, H, W] or [1, H, W, C]
  Placement placement;
};

// Fails if a size, the type, `mean` or `std` is invalid, if the crop is larger than the resized picture, or
// if a crop is combined with kLetterbox or kPadEnd.
Result<Pixels> ToTensor(const Image& image, const PixelOptions& options);
// Returns the placement without computing pixels.
Result<Placement> PlaceImage(Size picture, const PixelOptions& options);
// Writes one picture to the `index`-th entry of `batch`, [N, C, H, W] or [N, H, W, C]. Fails if the sizes or
// the type differ.
Result<Placement> ToTensorEntry(const Image& image, const PixelOptions& options, int64_t index,
                                Tensor& batch);

}  // namespace tern::data
