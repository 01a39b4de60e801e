// Converts image operators: resampling, regions of interest, boxes.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

// Returns input i, or null if it is absent or known to be empty. Old models contain an empty tensor instead
// of an absent input.
Value* Filled(OnnxNode& n, int i) {
  Value* v = n.In(i);
  if (!v || v->type.shape.rank() != 1) return v;
  return v->type.shape[0].Is(0) ? nullptr : v;
}

// Returns the attributes of Tern's Resize for ONNX's Upsample and for version 10 of ONNX's Resize. These two
// operators differ only for scales below 1, which Upsample does not allow.
AttrList AsymmetricAttrs(std::string mode, std::string nearest) {
  return {
      {"mode", std::move(mode)}, {"coordinates", std::string("asymmetric")}, {"nearest", std::move(nearest)}};
}

Status Resize(OnnxNode& n) {
  if (n.opset < 11) {
    n.Out(0, n.b.Op("Resize", {n.In(0), nullptr, n.In(1)},
                    AsymmetricAttrs(n.Text("mode", "nearest"), "simple")));
    return {};
  }
  const std::string coordinates = n.Text("coordinate_transformation_mode", "half_pixel");
  const AttrList attrs = {{"mode", n.Text("mode", "nearest")},
                          {"coordinates", coordinates},
                          {"nearest", n.Text("nearest_mode", "round_prefer_floor")},
                          {"antialias", n.Int("antialias") != 0},
                          {"exclude_outside", n.Int("exclude_outside") != 0},
                          {"cubic_a", static_cast<double>(n.Float("cubic_coeff_a", -0.75f))},
                          {"extrapolation", static_cast<double>(n.Float("extrapolation_value"))},
                          {"aspect", n.Text("keep_aspect_ratio_policy", "stretch")},
                          {"axes", n.Ints("axes")}};
  Value* roi = coordinates == "tf_crop_and_resize" ? Filled(n, 1) : nullptr;
  n.Out(0, n.b.Op("Resize", {n.In(0), roi, Filled(n, 2), n.RankOf(0) == 0 ? n.In(3) : Filled(n, 3)}, attrs));
  return {};
}

// Before version 9, the scales are attributes instead of an input.
Status Upsample(OnnxNode& n) {
  std::string mode = n.Text("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  Value* scales = n.In(1);
  if (n.opset < 9) {
    std::vector<float> list = n.Floats("scales");
    if (n.opset < 7) list = {1, 1, n.Float("height_scale", 1), n.Float("width_scale", 1)};
    scales =
        n.b.Const(Tensor::Of(DType::kF32, {static_cast<int64_t>(list.size())}, {list.begin(), list.end()}));
  }
  n.Out(0, n.b.Op("Resize", {n.In(0), nullptr, scales}, AsymmetricAttrs(mode, "floor")));
  return {};
}

Status GridSample(OnnxNode& n) {
  std::string mode = n.Text("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  n.Out(0, n.b.Op("GridSample", {n.In(0), n.In(1)},
                  {{"mode", mode},
                   {"padding", n.Text("padding_mode", "zeros")},
                   {"align_corners", n.Int("align_corners") != 0}}));
  return {};
}

Status RoiAlign(OnnxNode& n) {
  const std::string coordinates =
      n.Text("coordinate_transformation_mode", n.opset < 16 ? "output_half_pixel" : "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return n.Bad("coordinate_transformation_mode must be half_pixel or output_half_pixel, got '", coordinates,
                 "'");
  n.Out(0, n.b.Op("RoiAlign", {n.In(0), n.In(1), n.In(2)},
                  {{"mode", n.Text("mode", "avg")},
                   {"height", n.Int("output_height", 1)},
                   {"width", n.Int("output_width", 1)},
                   {"sampling_ratio", n.Int("sampling_ratio")},
                   {"spatial_scale", static_cast<double>(n.Float("spatial_scale", 1))},
                   {"half_pixel", coordinates == "half_pixel"}}));
  return {};
}

Status MaxRoiPool(OnnxNode& n) {
  if (!n.HasAttr("pooled_shape")) return n.Bad("attribute 'pooled_shape' is missing");
  n.Out(0, n.b.Op("MaxRoiPool", {n.In(0), n.In(1)},
                  {{"pooled_shape", n.Ints("pooled_shape")},
                   {"spatial_scale", static_cast<double>(n.Float("spatial_scale", 1))}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(image) {
  table.Add("Resize", Resize);
  table.Add("Upsample", Upsample);
  table.Add("GridSample", GridSample);
  table.Add("AffineGrid", Direct("AffineGrid", {"align_corners"}));
  table.Add("RoiAlign", RoiAlign);
  table.Add("MaxRoiPool", MaxRoiPool);
  table.Add("NonMaxSuppression", Direct("NonMaxSuppression", {"center_point_box"}));
  table.Add("Col2Im", Direct("Col2Im", {"dilations", "pads", "strides"}));
  table.Add("Det", Direct("Det"));
}

}  // namespace tern::onnx
