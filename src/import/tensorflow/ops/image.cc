// Converts operators on images.
#include <algorithm>
#include <cmath>

#include "import/tensorflow/layout.h"
#include "import/tensorflow/ops/window.h"

namespace tern::tensorflow {
namespace {

Value* Sizes(TfNode& n, int i) { return n.Cast(n.In(i), DType::kI64); }

Status Resize(TfNode& n, AttrList attrs, bool to_float) {
  const bool align = n.Bool("align_corners"), half = n.Bool("half_pixel_centers");
  if (align && half) return n.Bad("align_corners and half_pixel_centers exclude each other");
  const bool nearest = n.op() == "ResizeNearestNeighbor";
  const char* coordinates = align     ? "align_corners"
                            : !half   ? "asymmetric"
                            : nearest ? "tf_half_pixel_for_nn"
                                      : "half_pixel";
  attrs.emplace_back("coordinates", coordinates);
  attrs.emplace_back("axes", std::vector<int64_t>{2, 3});
  if (nearest) attrs.emplace_back("nearest", align ? "round_prefer_ceil" : "floor");
  Value* x = n.ChannelsFirst(0);
  if (to_float) x = n.Cast(x, DType::kF32);
  n.OutChannelsFirst(0, n.Op("Resize", {x, nullptr, nullptr, Sizes(n, 1)}, attrs));
  return {};
}

// Returns the weights that average `from` pixels to `to` pixels, as a matrix [to, from].
Tensor AreaWeights(int64_t from, int64_t to) {
  std::vector<double> w(static_cast<size_t>(from * to), 0);
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t y = 0; y < to; ++y) {
    const double start = static_cast<double>(y) * scale, end = start + scale;
    for (int64_t x = static_cast<int64_t>(start); x < from && static_cast<double>(x) < end; ++x)
      w[static_cast<size_t>(y * from + x)] =
          (std::min(end, static_cast<double>(x + 1)) - std::max(start, static_cast<double>(x))) / scale;
  }
  return Tensor::Of(DType::kF32, {to, from}, w);
}

Status ResizeArea(TfNode& n) {
  if (n.Bool("align_corners")) return n.NotYet("align_corners");
  TERN_ASSIGN(const auto sizes, n.Longs(1, "size"));
  Value* x = n.Cast(n.ChannelsFirst(0), DType::kF32);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (rank != 4 || sizes.size() != 2) return n.Bad("the input must have 4 axes and the size 2 entries");
  const Dim &height = x->type.shape[2], &width = x->type.shape[3];
  if (!height.known() || !width.known()) return n.NotYet("an image of unknown size");
  for (const int64_t s : {sizes[0], sizes[1], height.value(), width.value()})
    if (s < 1 || s > 16384) return n.Bad("a size of ", s);
  Value* y = n.Op("MatMul", {n.b.Const(AreaWeights(height.value(), sizes[0])), x});
  n.OutChannelsFirst(
      0, n.Op("MatMul", {y, n.b.Const(AreaWeights(width.value(), sizes[1]))}, {{"transpose_b", true}}));
  return {};
}

// Positions of samples along one axis as fractions of the image: [boxes, size], from `start` to `end`, which
// are [boxes, 1].
Value* Positions(TfNode& n, Value* start, Value* end, int64_t size) {
  if (size == 1) return n.Binary("mul", n.Binary("add", start, end), n.b.Scalar(DType::kF32, 0.5));
  std::vector<double> steps;
  for (int64_t i = 0; i < size; ++i) steps.push_back(static_cast<double>(i) / static_cast<double>(size - 1));
  Value* t = n.b.Const(Tensor::Of(DType::kF32, {1, size}, steps));
  return n.Binary("add", start, n.Binary("mul", t, n.Binary("sub", end, start)));
}

// Returns the start and end, [boxes, 1], of a region whose bins have the samples at their centres.
std::pair<Value*, Value*> Region(TfNode& n, Value* start, Value* end, Value* last, int64_t size) {
  Value* half = n.b.Scalar(DType::kF32, 0.5);
  Value *first = n.Binary("mul", start, last), *final = n.Binary("mul", end, last);
  if (size == 1) {
    Value* middle = n.Binary("mul", n.Binary("add", first, final), half);
    return {middle, n.Binary("add", middle, n.b.Scalar(DType::kF32, 1))};
  }
  Value* step =
      n.Binary("div", n.Binary("sub", final, first), n.b.Scalar(DType::kF32, static_cast<double>(size - 1)));
  // RoiAlign shifts coordinates by half a pixel.
  Value* from = n.Binary("add", n.Binary("sub", first, n.Binary("mul", step, half)), half);
  return {from,
          n.Binary("add", from, n.Binary("mul", step, n.b.Scalar(DType::kF32, static_cast<double>(size))))};
}

// Inputs: image, boxes [n, (y1, x1, y2, x2)], box_ind, crop_size.
Status CropAndResize(TfNode& n) {
  if (n.Text("method") != "bilinear") return n.NotYet("the method '", n.Text("method"), "'");
  TERN_ASSIGN(const auto size, n.Longs(3, "crop_size"));
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || size[0] > 16384 || size[1] > 16384)
    return n.Bad("the crop has no valid size");
  Value* x = n.Cast(n.ChannelsFirst(0), DType::kF32);
  const auto edge = [&](int64_t i) { return n.Slice(n.In(1), 1, i, i + 1); };
  Value *y1 = edge(0), *x1 = edge(1), *y2 = edge(2), *x2 = edge(3);
  Value* one = n.b.Ints({1});
  const auto last = [&](int64_t axis) { return n.Cast(n.Binary("sub", n.DimOf(x, axis), one), DType::kF32); };
  const auto [top, bottom] = Region(n, y1, y2, last(2), size[0]);
  const auto [left, right] = Region(n, x1, x2, last(3), size[1]);
  Value* rois = n.Concat({left, top, right, bottom}, 1);
  Value* crops = n.Op("RoiAlign", {x, rois, n.Cast(n.In(2), DType::kI64)},
                      {{"height", size[0]}, {"width", size[1]}, {"sampling_ratio", 1}, {"half_pixel", true}});
  const auto outside = [&](Value* p, int64_t axis) {
    Value* far = n.Binary("or", n.Binary("less", p, n.b.Scalar(DType::kF32, 0)),
                          n.Binary("greater", p, n.b.Scalar(DType::kF32, 1)));
    return n.Unsqueeze(far, axis == 2 ? std::vector<int64_t>{1, 3} : std::vector<int64_t>{1, 2});
  };
  Value* mask =
      n.Binary("or", outside(Positions(n, y1, y2, size[0]), 2), outside(Positions(n, x1, x2, size[1]), 3));
  Value* value = n.b.Scalar(DType::kF32, n.Float("extrapolation_value"));
  n.OutChannelsFirst(0, n.Op("Where", {mask, value, crops}));
  return {};
}

Status AdjustContrast(TfNode& n) {
  Value* x = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(x));
  if (rank < 3) return n.Bad("the input is no image");
  Value* mean = n.Reduce("mean", x, {rank - 3, rank - 2}, true);
  n.Out(0, n.Binary("add", n.Binary("mul", n.Binary("sub", x, mean), n.Cast(n.In(1), x->type.dtype)), mean));
  return {};
}

Value* Channel(TfNode& n, Value* x, int64_t i) { return n.Slice(x, -1, i, i + 1); }

// Hue, saturation and value of colours in [0, 1].
struct Hsv {
  Value *h, *s, *v;
};

Hsv ToHsv(TfNode& n, Value* x) {
  Value *r = Channel(n, x, 0), *g = Channel(n, x, 1), *b = Channel(n, x, 2), *zero = n.Like(x, 0),
        *one = n.Like(x, 1);
  Value* v = n.Binary("max", n.Binary("max", r, g), b);
  Value* range = n.Binary("sub", v, n.Binary("min", n.Binary("min", r, g), b));
  Value* s =
      n.Op("Where", {n.Binary("greater", v, zero),
                     n.Binary("div", range, n.Op("Where", {n.Binary("greater", v, zero), v, one})), zero});
  Value* some = n.Binary("greater", range, zero);
  Value* norm = n.Binary("div", n.Like(x, 1.0 / 6), n.Op("Where", {some, range, one}));
  const auto part = [&](Value* a, Value* z, double shift) {
    return n.Binary("add", n.Binary("mul", norm, n.Binary("sub", a, z)), n.Like(x, shift));
  };
  Value* h =
      n.Op("Where", {n.Binary("equal", r, v), part(g, b, 0),
                     n.Op("Where", {n.Binary("equal", g, v), part(b, r, 2.0 / 6), part(r, g, 4.0 / 6)})});
  h = n.Op("Where", {some, h, zero});
  return {n.Op("Where", {n.Binary("less", h, zero), n.Binary("add", h, one), h}), s, v};
}

Value* ToRgb(TfNode& n, const Hsv& c) {
  Value *six = n.Like(c.h, 6), *one = n.Like(c.h, 1), *zero = n.Like(c.h, 0);
  const auto clip = [&](Value* x) { return n.Op("Clip", {x, zero, one}); };
  Value* dh = n.Binary("mul", c.h, six);
  Value* r = clip(n.Binary("sub", n.Unary("abs", n.Binary("sub", dh, n.Like(dh, 3))), one));
  Value* g = clip(n.Binary("sub", n.Like(dh, 2), n.Unary("abs", n.Binary("sub", dh, n.Like(dh, 2)))));
  Value* b = clip(n.Binary("sub", n.Like(dh, 2), n.Unary("abs", n.Binary("sub", dh, n.Like(dh, 4)))));
  Value* pure = n.Concat({r, g, b}, -1);
  return n.Binary("mul", n.Binary("add", n.Binary("sub", one, c.s), n.Binary("mul", c.s, pure)), c.v);
}

Status RgbToHsv(TfNode& n) {
  const Hsv c = ToHsv(n, n.In(0));
  n.Out(0, n.Concat({c.h, c.s, c.v}, -1));
  return {};
}

Status HsvToRgb(TfNode& n) {
  Value* x = n.In(0);
  n.Out(0, ToRgb(n, {Channel(n, x, 0), Channel(n, x, 1), Channel(n, x, 2)}));
  return {};
}

Status AdjustSaturation(TfNode& n) {
  Value* x = n.In(0);
  Hsv c = ToHsv(n, x);
  c.s = n.Op("Clip", {n.Binary("mul", c.s, n.Cast(n.In(1), x->type.dtype)), n.Like(x, 0), n.Like(x, 1)});
  n.Out(0, ToRgb(n, c));
  return {};
}

Status AdjustHue(TfNode& n) {
  Value* x = n.In(0);
  Hsv c = ToHsv(n, x);
  c.h = n.Binary("mod", n.Binary("add", c.h, n.Cast(n.In(1), x->type.dtype)), n.Like(x, 1));
  n.Out(0, ToRgb(n, c));
  return {};
}

// Each tap of the window is a strided slice. The taps are stacked along the channels.
Status ExtractPatches(TfNode& n) {
  TERN_ASSIGN(const auto kernel, Spatial(n, n.Ints("ksizes"), false, "ksizes"));
  TERN_ASSIGN(const auto strides, Spatial(n, n.Ints("strides"), false, "strides"));
  TERN_ASSIGN(const auto rates, Spatial(n, n.Ints("rates"), false, "rates"));
  Value* x = n.ChannelsFirst(0);
  TERN_TRY(Status(n.b.status()));
  if (kernel[0] * kernel[1] > 1024) return n.NotYet("patches of ", kernel[0], " by ", kernel[1]);
  TERN_ASSIGN(const AttrList attrs, WindowAttrs(n, x, kernel, false, strides, rates));
  for (const auto& a : attrs)
    if (a.name == "auto_pad" && std::get<std::string>(a.value) != "none")
      return n.NotYet("SAME patches of an image of unknown size");
  std::vector<int64_t> pads;
  for (const auto& a : attrs)
    if (a.name == "pads") pads = std::get<std::vector<int64_t>>(a.value);
  if (pads.size() == 4 && std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; }))
    x = n.Op("Pad", {x, n.b.Ints(pads), nullptr, n.b.Ints({2, 3})});
  std::vector<Value*> taps;
  for (int64_t i = 0; i < kernel[0]; ++i)
    for (int64_t j = 0; j < kernel[1]; ++j) {
      // The last tap of the last window ends the axis.
      const int64_t down = i * rates[0], right = j * rates[1];
      const int64_t below = (kernel[0] - 1 - i) * rates[0], beside = (kernel[1] - 1 - j) * rates[1];
      taps.push_back(n.Op("Slice", {x, n.b.Ints({down, right}),
                                    n.b.Ints({below ? -below : INT64_MAX, beside ? -beside : INT64_MAX}),
                                    n.b.Ints({2, 3}), n.b.Ints(strides)}));
    }
  n.OutChannelsFirst(0, taps.size() == 1 ? taps[0] : n.Concat(taps, 1));
  return {};
}

}  // namespace

TERN_CONVERTERS(image) {
  table.Add("ResizeBilinear", [](TfNode& n) { return Resize(n, {{"mode", "linear"}}, true); });
  table.Add("ResizeNearestNeighbor", [](TfNode& n) { return Resize(n, {{"mode", "nearest"}}, false); });
  table.Add("ResizeBicubic", [](TfNode& n) {
    const bool half = n.Bool("half_pixel_centers");
    return Resize(n, {{"mode", "cubic"}, {"cubic_a", half ? -0.5 : -0.75}, {"exclude_outside", half}}, true);
  });
  table.Add("ResizeArea", ResizeArea);
  table.Add("CropAndResize", CropAndResize);
  table.Add("AdjustContrastv2", AdjustContrast);
  table.Add("AdjustSaturation", AdjustSaturation);
  table.Add("AdjustHue", AdjustHue);
  table.Add("RGBToHSV", RgbToHsv);
  table.Add("HSVToRGB", HsvToRgb);
  table.Add("ExtractImagePatches", ExtractPatches);
}

}  // namespace tern::tensorflow
