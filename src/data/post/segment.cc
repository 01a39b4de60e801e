#include "data/post/segment.h"

#include <algorithm>
#include <cmath>

#include "data/image/transform.h"
#include "data/post/floats.h"

namespace tern::data {
namespace {

constexpr int64_t kMaxClassMap = int64_t{1} << 27;

Status CheckSize(int64_t width, int64_t height, const Tensor& t) {
  if (width > 0 && height > 0 && width <= kMaxClassMap / height) return {};
  return InvalidArgument("a map of classes needs 1 to ", kMaxClassMap, " pixels, got ", t.Describe());
}

Result<ClassMap> FromLabels(const Tensor& t) {
  if (t.rank() != 2 && !(t.rank() == 3 && t.dim(0) == 1) &&
      !(t.rank() == 4 && t.dim(0) == 1 && t.dim(1) == 1))
    return InvalidArgument("classes must be [H,W] or [1,H,W], got ", t.Describe());
  TERN_TRY(CheckSize(t.dim(-1), t.dim(-2), t));
  ClassMap map{static_cast<int>(t.dim(-1)), static_cast<int>(t.dim(-2)), {}};
  for (const int64_t label : ToLongs(t))
    map.labels.push_back(static_cast<int32_t>(std::clamp<int64_t>(label, -1, INT32_MAX)));
  return map;
}

// Compares so that NaN is smaller than all numbers.
bool IsLarger(float a, float b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

}  // namespace

Result<ClassMap> SegmentationMap(const Tensor& scores, Layout layout) {
  if (IsInt(scores.dtype())) return FromLabels(scores);
  TERN_ASSIGN(const Tensor t, AsFloats(scores));
  if (t.rank() != 3 && !(t.rank() == 4 && t.dim(0) == 1))
    return InvalidArgument("scores of a segmentation must be ",
                           layout == Layout::kNchw ? "[1,C,H,W] or [C,H,W]" : "[1,H,W,C] or [H,W,C]",
                           ", got ", scores.Describe());
  const bool planar = layout == Layout::kNchw;
  const int64_t classes = t.dim(planar ? -3 : -1), height = t.dim(planar ? -2 : -3),
                width = t.dim(planar ? -1 : -2);
  TERN_TRY(CheckSize(width, height, t));
  if (classes < 1 || classes > INT32_MAX)
    return InvalidArgument("a segmentation without classes: ", t.Describe());
  const int64_t pixels = width * height;
  ClassMap map{static_cast<int>(width), static_cast<int>(height),
               std::vector<int32_t>(static_cast<size_t>(pixels))};
  const float* x = t.data<float>();
  if (planar) {  // class by class, which reads the scores in their order
    std::vector<float> best(x, x + pixels);
    for (int64_t c = 1; c < classes; ++c)
      for (int64_t i = 0; i < pixels; ++i)
        if (IsLarger(x[c * pixels + i], best[static_cast<size_t>(i)])) {
          best[static_cast<size_t>(i)] = x[c * pixels + i];
          map.labels[static_cast<size_t>(i)] = static_cast<int32_t>(c);
        }
    return map;
  }
  for (int64_t i = 0; i < pixels; ++i, x += classes) {
    int64_t best = 0;
    for (int64_t c = 1; c < classes; ++c)
      if (IsLarger(x[c], x[best])) best = c;
    map.labels[static_cast<size_t>(i)] = static_cast<int32_t>(best);
  }
  return map;
}

Result<ClassMap> MapToPicture(const ClassMap& map, const Placement& p) {
  if (map.width < 1 || map.height < 1 || p.tensor.width < 1 || p.tensor.height < 1 || p.picture.width < 1 ||
      p.picture.height < 1 || int64_t{p.picture.width} * p.picture.height > kMaxClassMap)
    return InvalidArgument("cannot move a map of ", map.width, " x ", map.height, " classes to a picture of ",
                           p.picture.width, " x ", p.picture.height);
  const auto place = [](int i, double scale, double offset, int from, int to) {
    const double at = ((i + 0.5) * scale + offset) * to / from;
    return static_cast<size_t>(std::clamp(at, 0.0, to - 1.0));
  };
  ClassMap out{p.picture.width, p.picture.height, {}};
  out.labels.reserve(static_cast<size_t>(out.width) * static_cast<size_t>(out.height));
  std::vector<size_t> columns;
  for (int x = 0; x < out.width; ++x)
    columns.push_back(place(x, p.scale_x, p.offset_x, p.tensor.width, map.width));
  for (int y = 0; y < out.height; ++y) {
    const size_t row = place(y, p.scale_y, p.offset_y, p.tensor.height, map.height);
    for (const size_t x : columns) out.labels.push_back(map.labels[row * static_cast<size_t>(map.width) + x]);
  }
  return out;
}

Status DrawClasses(Image& image, const ClassMap& map, float opacity, int32_t background) {
  if (image.width != map.width || image.height != map.height)
    return InvalidArgument("a map of ", map.width, " x ", map.height, " classes does not fit a picture of ",
                           image.width, " x ", image.height);
  if (!(opacity >= 0 && opacity <= 1)) return InvalidArgument("opacity ", opacity, " is not from 0 to 1");
  image = WithChannels(image, 3);
  const auto weight = static_cast<int>(std::lround(opacity * 256));
  for (size_t i = 0; i < map.labels.size(); ++i) {
    if (map.labels[i] == background || map.labels[i] < 0) continue;
    const Rgb colour = ClassColour(map.labels[i]);
    uint8_t* p = image.pixels.data() + 3 * i;
    for (size_t c = 0; c < 3; ++c)
      p[c] = static_cast<uint8_t>((colour[c] * weight + p[c] * (256 - weight) + 128) >> 8);
  }
  return {};
}

Image ColourClasses(const ClassMap& map) {
  Image image(map.width, map.height, 3);
  for (size_t i = 0; i < map.labels.size(); ++i) {
    if (map.labels[i] < 0) continue;
    const Rgb colour = ClassColour(map.labels[i]);
    std::copy(colour.begin(), colour.end(), image.pixels.begin() + static_cast<ptrdiff_t>(3 * i));
  }
  return image;
}

}  // namespace tern::data
