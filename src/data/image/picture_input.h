// Converts a picture to an input of given type and dims. The options are those of `tern run`.
#pragma once
#include <string>
#include <vector>

#include "core/tensor.h"
#include "data/image/image.h"
#include "data/image/resize.h"
#include "data/image/transform.h"

namespace tern::data {

struct ImageOptions {
  // "224x224" is the new width and height. "256" is the new size of the shorter side, and the aspect ratio
  // stays.
  std::string resize;
  std::string crop;                 // "224x224" or "224", from the centre, after resizing
  std::vector<double> mean, std;    // one value for all channels, or one per channel
  double scale = 0;                 // 0 means 1/255 for float inputs and 1 for integers
  std::string layout = "auto";      // "NCHW", "NHWC", or "auto": decided by the input's dims
  std::string channels = "auto";    // "rgb", "bgr", "gray", or "auto": decided by the input's dims
  std::string filter = "bilinear";  // a name of FilterFromName
};

// Computes (pixel * scale - mean) / std in the layout and type of the input. `dims` are the dims of the
// input, with -1 for open dims. Their rank is 2 (HW), 3 (CHW or HWC) or 4 (NCHW or NHWC with N = 1). Without
// resize and crop, the image is resized to the input's height and width if these are fixed, else it keeps its
// size.
Result<Tensor> ImageToTensor(const Image& image, DType dtype, const Dims& dims, const ImageOptions& options);

}  // namespace tern::data
