// Resizes a part of a picture row by row.
#pragma once
#include <vector>

#include "data/image/pixel_kernels.h"
#include "data/image/resize.h"

namespace tern::data {

struct Region {
  int left = 0, top = 0, width = 0, height = 0;
};

// Computes the pixels of `region` of the picture that Resize would return. The source picture must outlive
// the resampler. Row may be called in any order.
class Resampler {
 public:
  // Sizes must be positive, `box` inside of the picture, and `region` inside of `to`.
  Resampler(const Image& image, const SourceBox& box, Size to, Filter filter, const Region& region);
  Resampler(const Resampler&) = delete;

  int width() const { return region_.width; }
  int height() const { return region_.height; }
  size_t row_bytes() const {
    return static_cast<size_t>(region_.width) * static_cast<size_t>(image_->channels);
  }
  // Returns row `y` of the region: a pointer into the source or the resampler, or `scratch`, which must have
  // row_bytes() bytes.
  const uint8_t* Row(int y, uint8_t* scratch) const;

 private:
  void ResizeHeight(const TapRange& y);
  void ResizeWidth(const TapRange& x, int begin, int end);
  void ResizeFour(const Taps& taps, int y, int count);
  void AddRows(size_t output, size_t bytes, uint8_t* out) const;

  const Image* image_;  // the source, or `shortened_`
  Image shortened_;     // the rows of the region in the width of the source, if the vertical pass is first
  const PixelKernels& kernels_;
  Filter filter_;
  Region region_;
  bool vertical_ = false;  // rows are sums of rows after the horizontal pass
  Taps rows_;              // for the vertical pass
  std::vector<int32_t> nearest_x_, nearest_y_;
  std::vector<uint8_t> resized_;      // rows after the horizontal pass, if there is one
  const uint8_t* between_ = nullptr;  // row `first_row_` after the horizontal pass
  size_t between_stride_ = 0;
  int first_row_ = 0;
};

}  // namespace tern::data
