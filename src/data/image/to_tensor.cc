#include "data/image/to_tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "data/image/resampler.h"
#include "data/image/row_writer.h"
#include "data/image/transform.h"

namespace tern::data {
namespace {

// The steps from a picture to a tensor, in pixels.
struct Steps {
  Size resized;
  Region kept;    // of the resized picture
  Corner corner;  // of `kept` in the tensor
  Size tensor;
};

Result<Size> ResizedSize(Size from, const PixelOptions& o) {
  switch (o.fit) {
    case Fit::kKeep:
      return from;
    case Fit::kStretch:
      if (std::min(o.size.width, o.size.height) < 1 || std::max(o.size.width, o.size.height) > kMaxSide)
        return InvalidArgument("cannot resize a picture to ", o.size.width, " x ", o.size.height,
                               "; sides of 1 to ", kMaxSide, " are possible");
      return o.size;
    case Fit::kShorterSide:
      return ShorterSide(from, o.size.width);
    default:
      return FitInside(from, o.size);
  }
}

Result<Steps> MakeSteps(Size from, const PixelOptions& o) {
  if (from.width < 1 || from.height < 1) return InvalidArgument("the picture is empty");
  Steps s;
  TERN_ASSIGN(s.resized, ResizedSize(from, o));
  s.kept = {0, 0, s.resized.width, s.resized.height};
  s.tensor = s.resized;
  const bool pads = o.fit == Fit::kLetterbox || o.fit == Fit::kPadEnd;
  if (pads) {
    s.tensor = o.size;
    if (o.fit == Fit::kLetterbox)
      s.corner = {(o.size.width - s.resized.width) / 2, (o.size.height - s.resized.height) / 2};
  }
  if (o.crop.width == 0 && o.crop.height == 0) return s;
  if (pads) return InvalidArgument("a picture is padded or cropped, not both");
  if (o.crop.width < 1 || o.crop.height < 1 || o.crop.width > s.resized.width ||
      o.crop.height > s.resized.height)
    return InvalidArgument("cannot crop ", o.crop.width, "x", o.crop.height, " from a picture of ",
                           s.resized.width, "x", s.resized.height, " after resizing");
  const Corner corner = CentreCorner(s.resized, o.crop);
  s.kept = {corner.left, corner.top, o.crop.width, o.crop.height};
  s.tensor = o.crop;
  return s;
}

Placement PlacementOf(Size from, const Steps& s, bool flip) {
  Placement p;
  p.picture = from;
  p.tensor = s.tensor;
  p.scale_x = static_cast<double>(s.resized.width) / from.width;
  p.scale_y = static_cast<double>(s.resized.height) / from.height;
  p.offset_x = s.corner.left - s.kept.left;
  p.offset_y = s.corner.top - s.kept.top;
  if (!flip) return p;
  p.scale_x = -p.scale_x;
  p.offset_x = s.tensor.width - p.offset_x;
  return p;
}

Image ConvertColour(const Image& image, Colour colour) {
  if (colour == Colour::kGray) return WithChannels(image, 1);
  return colour == Colour::kYCbCr ? RgbToYCbCr(image) : WithChannels(image, 3);
}

// Adds the border and mirrors rows. Rows that need neither are returned without a copy.
class RowFrame {
 public:
  RowFrame(const Steps& s, int channels, const PixelOptions& o)
      : steps_(s), channels_(static_cast<size_t>(channels)), flip_(o.flip_horizontal) {
    Image pad(1, 1, 3, {o.pad_colour.begin(), o.pad_colour.end()});
    pad = channels == 1 && o.colour != Colour::kGray ? pad : ConvertColour(pad, o.colour);
    row_.resize(static_cast<size_t>(s.tensor.width) * channels_);
    for (size_t i = 0; i < row_.size(); ++i) row_[i] = pad.pixels[i % channels_];
    empty_ = row_;
  }
  const uint8_t* Empty() const { return empty_.data(); }
  const uint8_t* Frame(const uint8_t* row) {
    const auto width = static_cast<size_t>(steps_.kept.width);
    if (steps_.tensor.width == steps_.kept.width && !flip_) return row;
    uint8_t* to = row_.data() + static_cast<size_t>(steps_.corner.left) * channels_;
    if (!flip_) std::memcpy(to, row, width * channels_);
    if (flip_) {
      const size_t right = static_cast<size_t>(steps_.tensor.width - steps_.corner.left) - width;
      to = row_.data() + right * channels_;
      for (size_t x = 0; x < width; ++x)
        std::copy_n(row + x * channels_, channels_, to + (width - 1 - x) * channels_);
    }
    return row_.data();
  }

 private:
  const Steps& steps_;
  size_t channels_;
  bool flip_;
  std::vector<uint8_t> row_, empty_;
};

void WriteRows(const Image& image, const Steps& s, const PixelOptions& o, RowWriter& writer) {
  const SourceBox all{0, 0, static_cast<double>(image.width), static_cast<double>(image.height)};
  const Resampler rows(image, all, s.resized, o.filter, s.kept);
  std::vector<uint8_t> scratch(rows.row_bytes());
  RowFrame frame(s, image.channels, o);
  for (int y = 0; y < s.tensor.height; ++y) {
    const int from = y - s.corner.top;
    const bool inside = from >= 0 && from < s.kept.height;
    writer.Write(y, inside ? frame.Frame(rows.Row(from, scratch.data())) : frame.Empty());
  }
}

Dims DimsOf(int64_t batch, Size size, const PixelOptions& o) {
  const int64_t channels = o.colour == Colour::kGray ? 1 : 3;
  return o.layout == Layout::kNchw ? Dims{batch, channels, size.height, size.width}
                                   : Dims{batch, size.height, size.width, channels};
}

bool PadsWithColour(const PixelOptions& o) {
  const auto& c = o.pad_colour;
  return (o.fit == Fit::kLetterbox || o.fit == Fit::kPadEnd) && !(c[0] == c[1] && c[1] == c[2]);
}

// Returns whether the picture is resized with its own channels. A grey picture that becomes RGB is resized
// with one channel.
bool UsesDirectly(const Image& image, const PixelOptions& o) {
  if (o.colour == Colour::kYCbCr) return false;
  if (o.colour == Colour::kGray) return image.channels == 1;
  return image.channels == 3 || !PadsWithColour(o);
}

void WriteEntry(const Image& image, const Steps& steps, const PixelOptions& options, int64_t index,
                Tensor& batch, const Affine& affine) {
  RowWriter writer(batch, index, options.layout, options.colour == Colour::kBgr, affine, image.channels);
  WriteRows(image, steps, options, writer);
}

Status Write(const Image& image, const Steps& steps, const PixelOptions& options, int64_t index,
             Tensor& batch) {
  TERN_ASSIGN(const Affine affine, MakeAffine(options));
  if (UsesDirectly(image, options))
    WriteEntry(image, steps, options, index, batch, affine);
  else
    WriteEntry(ConvertColour(image, options.colour), steps, options, index, batch, affine);
  return {};
}

// Allocates from the heap, which reuses the memory of the previous picture. Tensor's constructor maps new
// pages, and their page faults would take longer than computing the pixels. The elements are not initialised.
Tensor HeapTensor(DType dtype, const Dims& dims) {
  constexpr size_t kAlign = 64;
  const size_t bytes = BytesOf(dtype, static_cast<size_t>(CountOf(dims)));
  void* data = std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  if (!data) throw std::bad_alloc();
  return Tensor::View(Buffer::Borrow(data, bytes, std::shared_ptr<void>(data, std::free)), dtype, dims);
}

Status CheckType(DType dtype) {
  if ((IsFloat(dtype) || IsInt(dtype)) && BytesOf(dtype, 2) >= 2) return {};
  return InvalidArgument("a picture cannot fill an input of type ", DTypeName(dtype));
}

}  // namespace

Result<Placement> PlaceImage(Size picture, const PixelOptions& options) {
  TERN_ASSIGN(const Steps steps, MakeSteps(picture, options));
  return PlacementOf(picture, steps, options.flip_horizontal);
}

Result<Pixels> ToTensor(const Image& image, const PixelOptions& options) {
  return Guard([&]() -> Result<Pixels> {
    TERN_TRY(CheckType(options.dtype));
    const Size from{image.width, image.height};
    TERN_ASSIGN(const Steps steps, MakeSteps(from, options));
    Pixels out{HeapTensor(options.dtype, DimsOf(1, steps.tensor, options)),
               PlacementOf(from, steps, options.flip_horizontal)};
    TERN_TRY(Write(image, steps, options, 0, out.tensor));
    return out;
  });
}

Result<Placement> ToTensorEntry(const Image& image, const PixelOptions& options, int64_t index,
                                Tensor& batch) {
  return Guard([&]() -> Result<Placement> {
    TERN_TRY(CheckType(options.dtype));
    const Size from{image.width, image.height};
    TERN_ASSIGN(const Steps steps, MakeSteps(from, options));
    const Dims wanted = DimsOf(batch.rank() == 4 ? batch.dim(0) : 0, steps.tensor, options);
    if (batch.dims() != wanted || batch.dtype() != options.dtype || !batch.contiguous() || index < 0 ||
        index >= wanted[0])
      return InvalidArgument("picture ", index, " gives an entry of ", Describe(options.dtype, wanted),
                             ", which does not fit into ", batch.Describe());
    TERN_TRY(Write(image, steps, options, index, batch));
    return PlacementOf(from, steps, options.flip_horizontal);
  });
}

}  // namespace tern::data
