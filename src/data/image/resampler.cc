#include "data/image/resampler.h"

#include <algorithm>
#include <cstring>

namespace tern::data {
namespace {

TapRange WholeRange(int from, int to, double low, double high, int begin, int length) {
  return {from, to, static_cast<float>(low), static_cast<float>(high), begin, begin + length};
}

bool Changes(const TapRange& r) {
  return r.to != r.from || r.low != 0 || r.high != static_cast<float>(r.from);
}

// Returns whether the vertical pass is first. As in Pillow 13, it is if resizing removes more than twice as
// many rows as columns.
bool IsVerticalFirst(const Image& image, Size to) {
  return to.height < image.height && 2 * (image.width - to.width) < image.height - to.height;
}

void CopyPixels(const uint8_t* row, const std::vector<int32_t>& from, int channels, uint8_t* out) {
  if (channels == 1) {
    for (const int32_t x : from) *out++ = row[x];
    return;
  }
  for (const int32_t x : from) {
    const uint8_t* p = row + 3 * static_cast<ptrdiff_t>(x);
    out[0] = p[0];
    out[1] = p[1];
    out[2] = p[2];
    out += 3;
  }
}

}  // namespace

Resampler::Resampler(const Image& image, const SourceBox& box, Size to, Filter filter, const Region& region)
    : image_(&image), kernels_(ActivePixelKernels()), filter_(filter), region_(region) {
  const TapRange x = WholeRange(image.width, to.width, box.left, box.right, region.left, region.width),
                 y = WholeRange(image.height, to.height, box.top, box.bottom, region.top, region.height);
  if (filter == Filter::kNearest) {
    nearest_x_ = NearestTaps(x);
    nearest_y_ = NearestTaps(y);
    return;
  }
  vertical_ = Changes(y);
  if (vertical_) rows_ = MakeTaps(filter, y);
  int begin = region.top, end = region.top + region.height;
  if (vertical_ && Changes(x) && IsVerticalFirst(image, to)) {
    ResizeHeight(y);
    begin = 0;
    end = region.height;
  } else if (vertical_) {
    begin = image.height;
    end = 0;
    for (size_t i = 0; i < rows_.first.size(); ++i) {
      begin = std::min(begin, rows_.first[i]);
      end = std::max(end, rows_.first[i] + rows_.count[i]);
    }
  }
  between_ = image_->at(region.left, 0);
  between_stride_ = image_->row_bytes();
  if (Changes(x)) ResizeWidth(x, begin, end);
}

void Resampler::ResizeHeight(const TapRange& y) {
  between_ = image_->pixels.data();
  between_stride_ = image_->row_bytes();
  shortened_ = Image(image_->width, y.end - y.begin, image_->channels);
  for (int row = 0; row < shortened_.height; ++row)
    AddRows(static_cast<size_t>(row), between_stride_, shortened_.at(0, row));
  image_ = &shortened_;
  vertical_ = false;
  region_.top = 0;
}

void Resampler::ResizeWidth(const TapRange& x, int begin, int end) {
  const Taps taps = MakeTaps(filter_, x);
  first_row_ = begin;
  between_stride_ = row_bytes() + kRowSlack;
  resized_.resize(between_stride_ * static_cast<size_t>(std::max(0, end - begin)));
  between_ = resized_.data();
  for (int y = begin; y < end; y += 4) ResizeFour(taps, y, std::min(4, end - y));
}

// Kernels read beyond the end of a row. Rows whose slack is outside of the picture are copied first.
void Resampler::ResizeFour(const Taps& taps, int y, int count) {
  std::vector<uint8_t> copies;
  const size_t length = image_->row_bytes();
  const uint8_t* end = image_->pixels.data() + image_->pixels.size();
  const uint8_t* rows[4];
  uint8_t* out[4];
  for (int r = 0; r < 4; ++r) {
    const int row = y + std::min(r, count - 1);  // a missing row repeats the last one
    rows[r] = image_->at(0, row);
    out[r] = resized_.data() + static_cast<size_t>(row - first_row_) * between_stride_;
    if (static_cast<size_t>(end - rows[r]) >= length + kRowSlack) continue;
    if (copies.empty()) copies.resize(4 * (length + kRowSlack));
    uint8_t* copy = copies.data() + static_cast<size_t>(r) * (length + kRowSlack);
    std::memcpy(copy, rows[r], length);
    rows[r] = copy;
  }
  if (image_->channels == 3) return kernels_.horizontal3(rows, taps, out);
  for (int r = 0; r < count; ++r) kernels_.horizontal1(rows[r], taps, out[r]);
}

// Computes one output of the vertical pass from rows of `between_`.
void Resampler::AddRows(size_t output, size_t bytes, uint8_t* out) const {
  std::vector<const uint8_t*> rows(static_cast<size_t>(rows_.count[output]));
  for (size_t k = 0; k < rows.size(); ++k)
    rows[k] = between_ + (static_cast<size_t>(rows_.first[output] - first_row_) + k) * between_stride_;
  kernels_.vertical(rows.data(), rows_.count[output], rows_.low.data() + output * rows_.stride,
                    rows_.high.data() + output * rows_.stride, bytes, out);
}

const uint8_t* Resampler::Row(int y, uint8_t* scratch) const {
  if (filter_ == Filter::kNearest) {
    CopyPixels(image_->at(0, nearest_y_[static_cast<size_t>(y)]), nearest_x_, image_->channels, scratch);
    return scratch;
  }
  if (!vertical_) return between_ + static_cast<size_t>(region_.top + y - first_row_) * between_stride_;
  AddRows(static_cast<size_t>(y), row_bytes(), scratch);
  return scratch;
}

}  // namespace tern::data
