// Crops, pads, flips and rotates pictures, and converts colours.
#pragma once
#include <array>

#include "data/image/image.h"
#include "data/image/resize.h"

namespace tern::data {

// Fails if the rectangle is not inside of the picture.
Result<Image> Crop(const Image& image, int left, int top, int width, int height);
// Fails if the image is smaller than the crop. An odd border is split as in torchvision's center_crop.
Result<Image> CropCentre(const Image& image, int width, int height);
struct Corner {
  int left = 0, top = 0;
};
Corner CentreCorner(Size image, Size crop);  // where CropCentre crops

// Adds a border of one colour. A grey picture uses colour[0].
Result<Image> Pad(const Image& image, int left, int top, int right, int bottom,
                  std::array<uint8_t, 3> colour);
Image FlipHorizontal(const Image& image);  // mirrors left and right
Image FlipVertical(const Image& image);
Image Rotate90(const Image& image, int quarter_turns);  // counter-clockwise, as np.rot90
// Rotates and flips as an EXIF orientation of 1 to 8 says, so that the picture is upright. Other values leave
// it unchanged.
Image ApplyOrientation(Image image, int orientation);

// Converts 3 channels to 1 by Rec. 601 luma, as Pillow's convert("L"), and 1 channel to 3 by copying.
Image WithChannels(const Image& image, int channels);
Image SwapRedBlue(Image image);        // RGB to BGR and back
Image RgbToYCbCr(const Image& image);  // full range (JPEG), as Pillow's convert("YCbCr")
Image YCbCrToRgb(const Image& image);

}  // namespace tern::data
