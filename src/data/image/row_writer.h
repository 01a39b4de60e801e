// Normalises rows of pixels and writes them to a tensor in its layout.
#pragma once
#include <vector>

#include "data/image/pixel_kernels.h"
#include "data/image/to_tensor.h"

namespace tern::data {

// The value of a pixel of channel c of the tensor, (pixel * scale - mean[c]) / std[c].
struct Affine {
  double scale = 1;
  double mean[3] = {0, 0, 0}, std[3] = {1, 1, 1};
  double Value(int pixel, size_t c) const { return (pixel * scale - mean[c]) / std[c]; }
  bool identity() const;  // for all channels
};
// Fails if the number of means or standard deviations is wrong, or if a number is not finite or divides by 0.
Result<Affine> MakeAffine(const PixelOptions& options);

class RowWriter {
 public:
  // `channels` is the number of channels of the rows: 3, or 1 for a grey picture, whose pixels are repeated
  // if the tensor has 3 channels. If `swap` is true, red and blue are exchanged. The tensor must outlive the
  // writer.
  RowWriter(Tensor& batch, int64_t index, Layout layout, bool swap, const Affine& affine, int channels);
  void Write(int y, const uint8_t* row);

 private:
  const uint8_t* Arrange(const uint8_t* row);
  void WriteFloats(int64_t first, const uint8_t* row);
  void WriteBytes(int64_t first, const uint8_t* row);
  template <class T> void WriteTable(int64_t first, const uint8_t* row);

  Tensor& batch_;
  const PixelKernels& kernels_;
  bool planar_, swap_, copies_;
  size_t width_, channels_, source_channels_;
  int64_t plane_ = 0, entry_ = 0;  // elements of one channel, and of one picture
  int64_t index_;
  float scale_[3], shift_[3];
  std::vector<uint8_t> arranged_;
  Tensor table_;  // [3, 256]: the values of all pixels, for types other than f32
};

}  // namespace tern::data
