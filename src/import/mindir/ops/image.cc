// Converts primitives that resample images.
#include "import/mindir/ops/shape_value.h"

namespace tern::mindir {
namespace {

// Resizes the spatial axes of [N, C, spatial…] to `size`, i64[spatial]. If `keys` is true, cubic
// interpolation uses Keys' coefficient -0.5 and ignores pixels outside the image.
Value* ResizeTo(MindNode& n, Value* size, const char* mode, const char* coordinates,
                const char* nearest = "floor", bool keys = false) {
  std::vector<int64_t> axes;
  for (int i = 2; i < n.RankOf(0); ++i) axes.push_back(i);
  return n.b.Op("Resize", {n.In(0), nullptr, nullptr, size},
                {{"mode", mode},
                 {"coordinates", coordinates},
                 {"nearest", nearest},
                 {"axes", axes},
                 {"cubic_a", keys ? -0.5 : -0.75},
                 {"exclude_outside", keys}});
}

// Returns the argument `size`: input 1, or an attribute.
Result<Value*> SizeArg(MindNode& n) {
  if (n.Has(1)) return ShapeValue(n, 1);
  const auto size = n.Ints(n.kAttribute, {"size"}, {});
  if (size.empty()) return n.Bad("the size is missing");
  return n.b.Ints(size);
}

// Inputs: x, size, align_corners, half_pixel_centers.
Converter Resize(const char* mode) {
  return [mode](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    TERN_TRY(RequireRank(n, 0, 4, 4));
    TERN_ASSIGN(Value * size, SizeArg(n));
    Emit e(n);
    const bool align = n.Bool(2, {"align_corners"}), half = n.Bool(3, {"half_pixel_centers"});
    const bool nearest = std::string_view(mode) == "nearest";
    const char* coordinates = align  ? "align_corners"
                              : half ? (nearest ? "tf_half_pixel_for_nn" : "half_pixel")
                                     : "asymmetric";
    n.Out(ResizeTo(n, size, mode, coordinates, align ? "round_prefer_ceil" : "floor",
                   half && std::string_view(mode) == "cubic"));
    return {};
  };
}

// Inputs: x, size, coordinate_transformation_mode.
Status ResizeLinear1D(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 3, 3));
  TERN_ASSIGN(Value * size, SizeArg(n));
  const std::string mode = n.Text(2, {"coordinate_transformation_mode"}, "align_corners",
                                  {"asymmetric", "align_corners", "half_pixel"});
  if (mode != "asymmetric" && mode != "align_corners" && mode != "half_pixel") return n.NotYet("mode ", mode);
  n.Out(ResizeTo(n, size, "linear", mode.c_str()));
  return {};
}

// Inputs: x, output_size, scales, align_corners. One of output_size and scales is None.
Converter Upsample(const char* mode, bool corners) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    TERN_TRY(RequireRank(n, 0, 3, 5));
    Emit e(n);
    const char* coordinates = std::string_view(mode) == "nearest"       ? "asymmetric"
                              : corners && n.Bool(3, {"align_corners"}) ? "align_corners"
                                                                        : "half_pixel";
    if (n.Has(1)) {
      n.Out(ResizeTo(n, ShapeValue(n, 1), mode, coordinates));
      return {};
    }
    const auto scales = n.Floats(2, {"scales"}, {});
    if (scales.size() + 2 != static_cast<size_t>(n.RankOf(0))) return n.Bad("has ", scales.size(), " scales");
    std::vector<int64_t> axes;
    for (int i = 2; i < n.RankOf(0); ++i) axes.push_back(i);
    Value* factors = n.b.Const(Tensor::Of(DType::kF32, {static_cast<int64_t>(scales.size())}, scales));
    n.Out(n.b.Op("Resize", {n.In(0), nullptr, factors, nullptr},
                 {{"mode", mode}, {"coordinates", coordinates}, {"nearest", "floor"}, {"axes", axes}}));
    return {};
  };
}

// Inputs: x, grid, interpolation, padding, align_corners.
Status GridSampler(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(Require(n, 1, kFloats));
  const std::string mode = n.Text(2, {"interpolation_mode"}, "bilinear", {"bilinear", "nearest", "bicubic"});
  const std::string padding = n.Text(3, {"padding_mode"}, "zeros", {"zeros", "border", "reflection"});
  const char* tern = mode == "bilinear" ? "linear" : mode == "nearest" ? "nearest" : "cubic";
  if (mode == "bicubic" || mode == "bilinear" || mode == "nearest") {
    n.Out(n.b.Op("GridSample", {n.In(0), n.In(1)},
                 {{"mode", tern}, {"padding", padding}, {"align_corners", n.Bool(4, {"align_corners"})}}));
    return {};
  }
  return n.NotYet("interpolation_mode ", mode);
}

Status AffineGrid(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  if (n.InputCount() < 2) return n.Bad("the size is missing");
  n.Out(n.b.Op("AffineGrid", {n.In(0), ShapeValue(n, 1)},
               {{"align_corners", n.Bool(n.kAttribute, {"align_corners"})}}));
  return {};
}

// Emits im2col. Inputs: x, kernel, strides, rates, padding. The result is [N, kh·kw·C, H', W'], in which the
// channel varies fastest within axis 1.
Status ExtractImagePatches(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 4, 4));
  const auto last_two = [](std::vector<int64_t> v) {
    return v.size() > 2 ? std::vector<int64_t>(v.end() - 2, v.end()) : v;
  };
  const auto kernel = last_two(n.Ints(1, {"ksizes"}, {1, 1}));
  const std::string padding = n.Text(4, {"padding"}, "valid", {"pad", "same", "valid"});
  const Dim channels = n.In(0)->type.shape[1];
  if (kernel.size() != 2 || kernel[0] < 1 || kernel[1] < 1 || kernel[0] > 64 || kernel[1] > 64 ||
      !channels.known() || channels.value() > 4096)
    return n.NotYet("a kernel or a number of channels that is too large or not known");
  const int64_t area = kernel[0] * kernel[1], count = channels.value();
  if (count * count > int64_t{1} << 24) return n.NotYet(count, " channels");
  // Emits a convolution with one filter per position and channel of the window.
  Tensor weights(n.In(0)->type.dtype, {area * count, count, kernel[0], kernel[1]});
  for (int64_t p = 0; p < area; ++p)
    for (int64_t c = 0; c < count; ++c) StoreDouble(weights, ((p * count + c) * count + c) * area + p, 1);
  n.Out(n.b.Op("Conv", {n.In(0), n.b.Const(std::move(weights))},
               {{"strides", last_two(n.Ints(2, {"strides"}, {1, 1}))},
                {"dilations", last_two(n.Ints(3, {"rates"}, {1, 1}))},
                {"auto_pad", padding == "same" ? "same_upper" : "valid"}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(image) {
  for (const char* name :
       {"ResizeNearestNeighbor", "ResizeNearestNeighborV2", "DynamicResizeNearestNeighbor"})
    table.Add(name, Resize("nearest"));
  for (const char* name : {"ResizeBilinear", "ResizeBilinearV2"}) table.Add(name, Resize("linear"));
  table.Add("ResizeBicubic", Resize("cubic"));
  table.Add("ResizeLinear1D", ResizeLinear1D);
  for (const char* name : {"UpsampleNearest1D", "UpsampleNearest2D", "UpsampleNearest3D"})
    table.Add(name, Upsample("nearest", false));
  for (const char* name : {"UpsampleLinear1D", "UpsampleBilinear2D", "UpsampleTrilinear3D"})
    table.Add(name, Upsample("linear", true));
  table.Add("UpsampleBicubic2D", Upsample("cubic", true));
  for (const char* name : {"GridSampler2D", "GridSampler3D"}) table.Add(name, GridSampler);
  table.Add("AffineGrid", AffineGrid);
  table.Add("ExtractImagePatches", ExtractImagePatches);
}

}  // namespace tern::mindir
