#include "data/image/row_writer.h"

#include <cmath>
#include <cstring>

namespace tern::data {
namespace {

Status Spread(const std::vector<double>& values, size_t channels, const char* name, double out[3]) {
  if (values.size() > 1 && values.size() != channels)
    return InvalidArgument(name, " has ", values.size(), " values for ", channels, " channels");
  for (size_t c = 0; c < channels && !values.empty(); ++c) out[c] = values[values.size() == 1 ? 0 : c];
  return {};
}

Tensor MakeTable(DType dtype, const Affine& affine) {
  Tensor table(dtype, {3, 256});
  for (int64_t i = 0; i < 768; ++i) {
    const double v = affine.Value(static_cast<int>(i % 256), static_cast<size_t>(i / 256));
    if (IsFloat(dtype))
      StoreDouble(table, i, v);
    else
      StoreLong(table, i, std::llround(v));
  }
  return table;
}

}  // namespace

bool Affine::identity() const {
  bool same = scale == 1;
  for (size_t c = 0; c < 3; ++c) same = same && mean[c] == 0 && std[c] == 1;
  return same;
}

Result<Affine> MakeAffine(const PixelOptions& o) {
  const size_t channels = o.colour == Colour::kGray ? 1 : 3;
  Affine a;
  a.scale = o.scale;
  TERN_TRY(Spread(o.mean, channels, "mean", a.mean));
  TERN_TRY(Spread(o.std, channels, "std", a.std));
  for (size_t c = 0; c < channels; ++c)
    if (a.std[c] == 0 || !std::isfinite(a.Value(255, c)))
      return InvalidArgument("scale ", a.scale, ", mean ", a.mean[c], " and std ", a.std[c], " of channel ",
                             c, " do not give finite numbers");
  return a;
}

RowWriter::RowWriter(Tensor& batch, int64_t index, Layout layout, bool swap, const Affine& affine,
                     int channels)
    : batch_(batch),
      kernels_(ActivePixelKernels()),
      planar_(layout == Layout::kNchw),
      swap_(swap),
      copies_(batch.dtype() == DType::kU8 && affine.identity()),
      width_(static_cast<size_t>(batch.dim(planar_ ? 3 : 2))),
      channels_(static_cast<size_t>(batch.dim(planar_ ? 1 : 3))),
      source_channels_(static_cast<size_t>(channels)),
      plane_(batch.dim(planar_ ? 2 : 1) * static_cast<int64_t>(width_)),
      entry_(plane_ * static_cast<int64_t>(channels_)),
      index_(index),
      arranged_(width_ * channels_) {
  for (size_t c = 0; c < 3; ++c) {
    scale_[c] = static_cast<float>(affine.scale / affine.std[c]);
    shift_[c] = static_cast<float>(-affine.mean[c] / affine.std[c]);
  }
  if (batch.dtype() != DType::kF32) table_ = MakeTable(batch.dtype(), affine);
}

// Repeats grey pixels and swaps red and blue.
const uint8_t* RowWriter::Arrange(const uint8_t* row) {
  if (channels_ == 1 || (source_channels_ == 3 && !swap_)) return row;
  uint8_t* out = arranged_.data();
  const size_t step = source_channels_ == 3 ? 1 : 0;
  for (size_t x = 0; x < width_; ++x, out += 3, row += source_channels_) {
    out[0] = row[2 * step];
    out[1] = row[step];
    out[2] = row[0];
  }
  return arranged_.data();
}

void RowWriter::Write(int y, const uint8_t* row) {
  const int64_t pixel = y * static_cast<int64_t>(width_);
  const int64_t first = index_ * entry_ + (planar_ ? pixel : pixel * static_cast<int64_t>(channels_));
  row = Arrange(row);
  if (batch_.dtype() == DType::kF32) return WriteFloats(first, row);
  if (copies_ && (!planar_ || channels_ == 1)) return WriteBytes(first, row);
  switch (BytesOf(batch_.dtype(), 1)) {
    case 1:
      return WriteTable<uint8_t>(first, row);
    case 2:
      return WriteTable<uint16_t>(first, row);
    case 4:
      return WriteTable<uint32_t>(first, row);
    default:
      return WriteTable<uint64_t>(first, row);
  }
}

void RowWriter::WriteFloats(int64_t first, const uint8_t* row) {
  float* out = batch_.data<float>() + first;
  if (channels_ == 1) {
    const float scale[3] = {scale_[0], scale_[0], scale_[0]}, shift[3] = {shift_[0], shift_[0], shift_[0]};
    return kernels_.scale3(row, width_, scale, shift, out);
  }
  if (!planar_) return kernels_.scale3(row, 3 * width_, scale_, shift_, out);
  float* const planes[3] = {out, out + plane_, out + 2 * plane_};
  kernels_.planes3(row, width_, scale_, shift_, planes);
}

void RowWriter::WriteBytes(int64_t first, const uint8_t* row) {
  std::memcpy(batch_.data<uint8_t>() + first, row, width_ * channels_);
}

template <class T> void RowWriter::WriteTable(int64_t first, const uint8_t* row) {
  T* out = batch_.data<T>() + first;
  const T* table = table_.data<T>();
  const size_t step = planar_ ? 1 : channels_;
  for (size_t c = 0; c < channels_; ++c, table += 256) {
    T* to = planar_ ? out + static_cast<int64_t>(c) * plane_ : out + c;
    for (size_t x = 0; x < width_; ++x) to[x * step] = table[row[x * channels_ + c]];
  }
}

}  // namespace tern::data
