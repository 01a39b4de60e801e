#include "data/image/picture_input.h"

#include <algorithm>
#include <cmath>

namespace tern::data {
namespace {

// The source pixels that contribute to an output pixel start at `first`. Each has a weight, and the weights
// sum to 1.
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

std::vector<Taps> MakeTaps(int from, int to) {
  const double ratio = static_cast<double>(from) / to, reach = std::max(1.0, ratio);
  std::vector<Taps> all(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * ratio;
    const int low = std::max(0, static_cast<int>(centre - reach + 0.5)),
              high = std::min(from, static_cast<int>(centre + reach + 0.5));
    Taps& taps = all[static_cast<size_t>(i)];
    taps.first = low;
    double total = 0;
    for (int k = low; k < high; ++k) {
      const double w = std::max(0.0, 1 - std::fabs((k + 0.5 - centre) / reach));
      taps.weights.push_back(static_cast<float>(w));
      total += w;
    }
    for (float& w : taps.weights) w = static_cast<float>(w / total);
  }
  return all;
}

uint8_t Round(float v) { return static_cast<uint8_t>(std::clamp(v + 0.5f, 0.f, 255.f)); }

Image ResizeWidth(const Image& in, int width) {
  Image out{width, in.height, in.channels, {}};
  out.pixels.resize(static_cast<size_t>(width) * static_cast<size_t>(in.height * in.channels));
  const std::vector<Taps> taps = MakeTaps(in.width, width);
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < in.channels; ++c) {
        const Taps& t = taps[static_cast<size_t>(x)];
        float sum = 0;
        for (size_t k = 0; k < t.weights.size(); ++k)
          sum += t.weights[k] * static_cast<float>(in.at(t.first + static_cast<int>(k), y)[c]);
        out.at(x, y)[c] = Round(sum);
      }
  return out;
}

Image ResizeHeight(const Image& in, int height) {
  Image out{in.width, height, in.channels, {}};
  const size_t row = static_cast<size_t>(in.width) * static_cast<size_t>(in.channels);
  out.pixels.resize(row * static_cast<size_t>(height));
  const std::vector<Taps> taps = MakeTaps(in.height, height);
  for (int y = 0; y < height; ++y) {
    const Taps& t = taps[static_cast<size_t>(y)];
    for (size_t i = 0; i < row; ++i) {
      float sum = 0;
      for (size_t k = 0; k < t.weights.size(); ++k)
        sum += t.weights[k] * static_cast<float>(in.at(0, t.first + static_cast<int>(k))[i]);
      out.pixels[static_cast<size_t>(y) * row + i] = Round(sum);
    }
  }
  return out;
}

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

Result<Image> Fit(Image image, const Axes& a, const ImageOptions& o) {
  if (!o.resize.empty()) {
    TERN_ASSIGN(Size s, ParseSize(o.resize, "--resize"));
    if (s.height == 0) {
      const int shorter = std::min(image.width, image.height), side = s.width;
      const auto scaled = [&](int n) {
        return std::max<int64_t>(1, static_cast<int64_t>(n) * side / shorter);
      };
      if (std::max(scaled(image.width), scaled(image.height)) > 1 << 15)
        return InvalidArgument("--resize ", o.resize, " gives a picture that is too large");
      s = {static_cast<int>(scaled(image.width)), static_cast<int>(scaled(image.height))};
    }
    image = Resize(image, s.width, s.height);
  }
  if (!o.crop.empty()) {
    TERN_ASSIGN(Size s, ParseSize(o.crop, "--crop"));
    TERN_ASSIGN(image, CropCentre(image, s.width, s.height ? s.height : s.width));
  }
  const bool fixed = a.width > 0 && a.height > 0;
  if (!fixed || (image.width == a.width && image.height == a.height)) return image;
  if (!o.resize.empty() || !o.crop.empty())
    return InvalidArgument("the picture is ", image.width, "x", image.height,
                           " after --resize and --crop, but the input needs ", a.width, "x", a.height);
  if (a.width > 1 << 14 || a.height > 1 << 14)
    return InvalidArgument("the input needs ", a.width, "x", a.height,
                           " pixels, but a picture is resized to at most 16384x16384");
  return Resize(image, static_cast<int>(a.width), static_cast<int>(a.height));
}

Result<double> PerChannel(const std::vector<double>& values, size_t channel, int channels, double otherwise,
                          const char* option) {
  if (values.empty()) return otherwise;
  if (values.size() == 1) return values[0];
  if (values.size() != static_cast<size_t>(channels))
    return InvalidArgument(option, " has ", values.size(), " values for ", channels, " channels");
  return values[channel];
}

}  // namespace

Image WithChannels(const Image& image, int channels) {
  if (image.channels == channels) return image;
  Image out{image.width, image.height, channels, {}};
  const size_t pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height);
  out.pixels.resize(pixels * static_cast<size_t>(channels));
  for (size_t i = 0; i < pixels; ++i) {
    if (channels == 3)
      std::fill_n(out.pixels.data() + 3 * i, 3, image.pixels[i]);
    else {
      const uint8_t* p = image.pixels.data() + 3 * i;
      out.pixels[i] = static_cast<uint8_t>((p[0] * 19595 + p[1] * 38470 + p[2] * 7471 + 0x8000) >> 16);
    }
  }
  return out;
}

Image Resize(const Image& image, int width, int height, Filter) {
  Image out = image.width == width ? image : ResizeWidth(image, width);
  return image.height == height ? out : ResizeHeight(out, height);
}

Result<Image> CropCentre(const Image& image, int width, int height) {
  if (width > image.width || height > image.height)
    return InvalidArgument("cannot crop ", width, "x", height, " from a picture of ", image.width, "x",
                           image.height);
  Image out{width, height, image.channels, {}};
  out.pixels.resize(static_cast<size_t>(width) * static_cast<size_t>(height * image.channels));
  const int left = (image.width - width) / 2, top = (image.height - height) / 2;
  for (int y = 0; y < height; ++y)
    std::copy_n(image.at(left, top + y), static_cast<size_t>(width * image.channels), out.at(0, y));
  return out;
}

Result<Tensor> ImageToTensor(const Image& source, DType dtype, const Dims& dims, const ImageOptions& o) {
  return Guard([&]() -> Result<Tensor> {
    if (!IsFloat(dtype) && !IsInt(dtype))
      return InvalidArgument("a picture cannot fill an input of type ", DTypeName(dtype));
    TERN_ASSIGN(const Axes a, FindAxes(dims, o.layout));
    TERN_ASSIGN(const int channels, ChooseChannels(a, source, o.channels));
    TERN_ASSIGN(const Image image, Fit(WithChannels(source, channels), a, o));
    Dims out_dims = a.channels_first ? Dims{channels, image.height, image.width}
                                     : Dims{image.height, image.width, channels};
    if (dims.size() == 4) out_dims.insert(out_dims.begin(), 1);
    if (dims.size() == 2) out_dims.erase(out_dims.begin());
    Tensor t(dtype, out_dims);
    const double scale = o.scale != 0 ? o.scale : IsFloat(dtype) ? 1.0 / 255 : 1;
    const int64_t plane = static_cast<int64_t>(image.width) * image.height;
    for (int c = 0; c < channels; ++c) {
      TERN_ASSIGN(const double mean, PerChannel(o.mean, static_cast<size_t>(c), channels, 0, "--mean"));
      TERN_ASSIGN(const double std, PerChannel(o.std, static_cast<size_t>(c), channels, 1, "--std"));
      if (std == 0) return InvalidArgument("--std must not be 0");
      const int from = o.channels == "bgr" ? channels - 1 - c : c;
      for (int64_t i = 0; i < plane; ++i) {
        const double v = (image.pixels[static_cast<size_t>(i * channels + from)] * scale - mean) / std;
        const int64_t at = a.channels_first ? c * plane + i : i * channels + c;
        if (IsFloat(dtype))
          StoreDouble(t, at, v);
        else
          StoreLong(t, at, std::llround(v));
      }
    }
    return t;
  });
}

}  // namespace tern::data
