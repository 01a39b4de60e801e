// The window of a convolution or pooling layer.
#pragma once
#include "import/caffe/converter.h"

namespace tern::caffe {

struct WindowParams {
  Dims kernel, strides, pads, dilations;  // one number per spatial axis
};

// Reads convolution_param for a bottom with `axes` spatial axes. A list with one number applies to all axes.
Result<WindowParams> ConvWindow(const Layer& n, int axes);
// Returns pads at the start of each axis, then at the end of each.
Dims BothEnds(const Dims& pads);

}  // namespace tern::caffe
