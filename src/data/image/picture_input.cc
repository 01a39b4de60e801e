#include "data/image/picture_input.h"

#include "data/image/to_tensor.h"

namespace tern::data {
namespace {

Result<Size> ParseSize(const std::string& text, const char* option) {
  const std::vector<std::string> parts = SplitText(text, 'x');
  int64_t v[2] = {0, 0};
  const auto sane = [](int64_t n) { return n > 0 && n <= 1 << 14; };
  for (size_t i = 0; i < parts.size() && i < 2; ++i)
    if (!ParseInt(parts[i], v[i])) v[i] = 0;
  if (parts.size() > 2 || !sane(v[0]) || (parts.size() == 2 && !sane(v[1])))
    return InvalidArgument(option, " ", text,
                           ": must be like 224x224 (width x height) or 224, with sizes from 1 to 16384");
  return Size{static_cast<int>(v[0]), parts.size() == 2 ? static_cast<int>(v[1]) : 0};
}

// The layout of an input of rank 2 to 4, and the sizes of its axes. -1 means that the size is open.
struct Axes {
  bool channels_first = true;
  int64_t channels = -1, height = -1, width = -1;
};

bool LooksLikeChannels(int64_t d) { return d == 1 || d == 3; }

Result<Axes> FindAxes(const Dims& dims, const std::string& layout) {
  if (dims.size() < 2 || dims.size() > 4)
    return InvalidArgument("a picture needs an input of rank 2, 3 or 4, but this one has rank ", dims.size());
  if (dims.size() == 4 && dims[0] > 1)
    return InvalidArgument("one picture cannot fill an input with a batch of ", dims[0]);
  Axes a;
  if (dims.size() == 2) {
    a.channels = 1;
    a.height = dims[0];
    a.width = dims[1];
    return a;
  }
  const Dims d(dims.end() - 3, dims.end());
  a.channels_first =
      layout == "auto" ? !(LooksLikeChannels(d[2]) && !LooksLikeChannels(d[0])) : layout == "NCHW";
  a.channels = a.channels_first ? d[0] : d[2];
  a.height = a.channels_first ? d[1] : d[0];
  a.width = a.channels_first ? d[2] : d[1];
  return a;
}

Result<int> ChooseChannels(const Axes& a, const Image& image, const std::string& wanted) {
  const int64_t count = wanted == "gray"                     ? 1
                        : wanted == "rgb" || wanted == "bgr" ? 3
                        : a.channels > 0                     ? a.channels
                                                             : image.channels;
  if (!LooksLikeChannels(count) || (a.channels > 0 && a.channels != count))
    return InvalidArgument("cannot make ", count, " channels from a picture",
                           a.channels > 0 ? StrCat(" for an input of ", a.channels, " channels") : "",
                           "; 1 (gray) and 3 (color) are possible");
  return static_cast<int>(count);
}

// Sets how the picture is resized and cropped. CheckSizes compares the result with the input.
Status SetSizes(const Axes& a, const ImageOptions& o, PixelOptions& pixels) {
  const bool fixed = a.width > 0 && a.height > 0;
  if (!o.resize.empty()) {
    TERN_ASSIGN(pixels.size, ParseSize(o.resize, "--resize"));
    pixels.fit = pixels.size.height == 0 ? Fit::kShorterSide : Fit::kStretch;
  } else if (fixed && o.crop.empty()) {
    if (a.width > 1 << 14 || a.height > 1 << 14)
      return InvalidArgument("the input needs ", a.width, "x", a.height,
                             " pixels, but a picture is resized to at most 16384x16384");
    pixels.fit = Fit::kStretch;
    pixels.size = {static_cast<int>(a.width), static_cast<int>(a.height)};
  }
  if (o.crop.empty()) return {};
  TERN_ASSIGN(pixels.crop, ParseSize(o.crop, "--crop"));
  if (pixels.crop.height == 0) pixels.crop.height = pixels.crop.width;
  return {};
}

Status CheckSizes(const Axes& a, Size made) {
  const bool fixed = a.width > 0 && a.height > 0;
  if (!fixed || (made.width == a.width && made.height == a.height)) return {};
  return InvalidArgument("the picture is ", made.width, "x", made.height,
                         " after --resize and --crop, but the input needs ", a.width, "x", a.height);
}

Colour ColourOf(int channels, const std::string& wanted) {
  if (channels == 1) return Colour::kGray;
  return wanted == "bgr" ? Colour::kBgr : Colour::kRgb;
}

Status CheckNumbers(const std::vector<double>& values, int channels, const char* option) {
  if (values.size() <= 1 || values.size() == static_cast<size_t>(channels)) return {};
  return InvalidArgument(option, " has ", values.size(), " values for ", channels, " channels");
}

Status SetNumbers(int channels, DType dtype, const ImageOptions& o, PixelOptions& pixels) {
  TERN_TRY(CheckNumbers(o.mean, channels, "--mean"));
  TERN_TRY(CheckNumbers(o.std, channels, "--std"));
  for (const double std : o.std)
    if (std == 0) return InvalidArgument("--std must not be 0");
  pixels.scale = o.scale != 0 ? o.scale : IsFloat(dtype) ? 1.0 / 255 : 1;
  pixels.mean = o.mean;
  pixels.std = o.std;
  pixels.dtype = dtype;
  return {};
}

}  // namespace

Result<Tensor> ImageToTensor(const Image& image, DType dtype, const Dims& dims, const ImageOptions& o) {
  if (!IsFloat(dtype) && !IsInt(dtype))
    return InvalidArgument("a picture cannot fill an input of type ", DTypeName(dtype));
  TERN_ASSIGN(const Axes a, FindAxes(dims, o.layout));
  TERN_ASSIGN(const int channels, ChooseChannels(a, image, o.channels));
  PixelOptions pixels;
  TERN_TRY(SetSizes(a, o, pixels));
  TERN_TRY(SetNumbers(channels, dtype, o, pixels));
  TERN_ASSIGN(pixels.filter, FilterFromName(o.filter));
  pixels.colour = ColourOf(channels, o.channels);
  pixels.layout = a.channels_first ? Layout::kNchw : Layout::kNhwc;
  TERN_ASSIGN(const Placement placement, PlaceImage({image.width, image.height}, pixels));
  TERN_TRY(CheckSizes(a, placement.tensor));
  TERN_ASSIGN(const Pixels made, ToTensor(image, pixels));
  Dims out = made.tensor.dims();
  if (dims.size() < 4) out.erase(out.begin());
  if (dims.size() == 2) out.erase(out.begin());
  return made.tensor.Reshaped(out);
}

}  // namespace tern::data
