// Computes the work of convolution kernels, for estimates of their time.
#pragma once
#include <initializer_list>

#include "kernel_api/kernel_table.h"
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern {

// Returns the product of sizes as a double. If the batch is empty, the images may be so huge that the product
// of their dims exceeds int64_t.
inline double ProductOf(std::initializer_list<int64_t> sizes) {
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}
inline double ProductOf(const cpu::Spatial& s) { return ProductOf({s[0], s[1], s[2]}); }

// Returns a Work that counts only the bytes of w (`weights`), and of x and y (`moved`), all in f32.
Work ConvOperands(const cpu::ConvShape& s);
// Returns the work of a 1x1 convolution over channels-last images.
Work PointwiseWork(const cpu::ConvShape& s, cpu::Operands operands = cpu::Operands::kF32);
Work DepthwiseWork(const char* algorithm, const cpu::ConvShape& s);
// s.input is the size of x. If `col2im` is true, the kernel writes products to memory before it adds them to
// y.
Work ConvTransposeWork(const char* algorithm, const cpu::ConvShape& s, bool col2im = false);
// Returns the work of the product of the weights and the im2col matrix. The kernel generates this matrix
// block by block.
Work Im2colWork(const char* algorithm, const cpu::ConvShape& s);

}  // namespace tern
