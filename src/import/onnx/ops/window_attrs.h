// Reads strides, pads, dilations and auto_pad of convolutions and pools. Makes pads explicit where sizes are
// known.
#pragma once
#include "import/onnx/converter.h"

namespace tern::onnx {

// x: [N, C, spatial…]; kernel: sizes of the window, empty when its rank is unknown.
// keep_auto_pad: leaves auto_pad in place, because the pads depend on more than the sizes.
Result<AttrList> WindowAttrs(const OnnxNode& n, const Shape& x, const std::vector<Dim>& kernel,
                             bool keep_auto_pad = false);
// Returns the spatial sizes of a weight [M, C, kernel…], or attribute kernel_shape if the weight's rank is
// unknown. Fails if the two contradict each other.
Result<std::vector<Dim>> KernelOf(const OnnxNode& n, const Shape& weight);

}  // namespace tern::onnx
