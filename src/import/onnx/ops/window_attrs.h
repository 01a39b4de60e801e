// Reads the attributes strides, pads, dilations and auto_pad of convolutions and pools.
#pragma once
#include "import/onnx/converter.h"

namespace tern::onnx {

// Returns Tern's attributes strides, dilations, pads and auto_pad. If the spatial sizes of x and the kernel
// are known, replaces auto_pad by the pads that it stands for. `x` is [N, C, spatial…]. `kernel` contains the
// sizes of the window. It is empty if the window's rank is unknown. If `keep_auto_pad` is true, auto_pad is
// not replaced. Operators whose pads depend on more than these sizes need this.
Result<AttrList> WindowAttrs(const OnnxNode& n, const Shape& x, const std::vector<Dim>& kernel,
                             bool keep_auto_pad = false);
// Returns the spatial sizes of a weight [M, C, kernel…]. If the weight's rank is unknown, returns attribute
// kernel_shape. Fails if the weight and kernel_shape contradict each other.
Result<std::vector<Dim>> KernelOf(const OnnxNode& n, const Shape& weight);

}  // namespace tern::onnx
