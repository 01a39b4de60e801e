// Decodes PNG and JPEG pictures and converts pixels to a model's input.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

struct Image {
  int width = 0, height = 0, channels = 0;  // `channels` is 1 for grey, 3 for RGB
  std::vector<uint8_t> pixels;              // row by row; the channels of a pixel are adjacent
  uint8_t* at(int x, int y) {
    return pixels.data() + (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) *
                               static_cast<size_t>(channels);
  }
  const uint8_t* at(int x, int y) const { return const_cast<Image*>(this)->at(x, y); }
};

// Detects the format by the first bytes. Fails if the image has more than 2^27 pixels or is a CMYK JPEG.
// Samples of 16 bits are converted to 8 bits. An alpha channel is dropped.
Result<Image> DecodeImage(std::string_view bytes);
Result<Image> ReadImage(const std::string& path);

// Converts 3 channels to 1 by Rec. 601 luma, and 1 channel to 3 by copying.
Image WithChannels(const Image& image, int channels);

// Resizes bilinearly. The centre of pixel i is at i + 0.5. To avoid aliasing when an image shrinks, the
// filter support is multiplied by the ratio of the sizes, as in Pillow's BILINEAR. The result is rounded to 8
// bits.
Image Resize(const Image& image, int width, int height);

// Crops the centre. Fails if the image is smaller than the crop.
Result<Image> CropCentre(const Image& image, int width, int height);

struct ImageOptions {
  // "224x224" is the new width and height. "256" is the new size of the shorter side, and the aspect ratio
  // stays.
  std::string resize;
  std::string crop;               // "224x224" or "224", from the centre, after resizing
  std::vector<double> mean, std;  // one value for all channels, or one per channel
  double scale = 0;               // 0 means 1/255 for float inputs and 1 for integers
  std::string layout = "auto";    // "NCHW", "NHWC", or "auto": decided by the input's dims
  std::string channels = "auto";  // "rgb", "bgr", "gray", or "auto": decided by the input's dims
};

// Computes (pixel * scale - mean) / std in the layout and type of the input. `dims` are the dims of the
// input, with -1 for open dims. Their rank is 2 (HW), 3 (CHW or HWC) or 4 (NCHW or NHWC with N = 1). Without
// resize and crop, the image is resized to the input's height and width.
Result<Tensor> ImageToTensor(const Image& image, DType dtype, const Dims& dims, const ImageOptions& options);

}  // namespace tern::data
