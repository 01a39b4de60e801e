// strides, pads, dilations and auto_pad of convolutions and pools, with explicit pads where sizes are known.
#pragma once
#include "import/onnx/converter.h"

namespace tern::onnx {

// x: [N, C, spatial…]; kernel: sizes of the window, empty when its rank is unknown.
// keep_auto_pad: leaves auto_pad in place, because the pads depend on more than the sizes.
Result<AttrList> WindowAttrs(const OnnxNode& n, const Shape& x, const std::vector<Dim>& kernel,
                             bool keep_auto_pad = false);
// The spatial sizes of a weight [M, C, kernel…]; empty when unknown. Must agree with attribute kernel_shape.
Result<std::vector<Dim>> KernelOf(const OnnxNode& n, const Shape& weight);

}  // namespace tern::onnx
