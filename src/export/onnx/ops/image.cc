// Exports image ops: resampling, regions of interest, boxes.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

std::string Single(TernNode& n, int i) {
  if (!n.Has(i) || n.TypeOf(i).dtype == DType::kF32) return n.In(i);
  return n.Op("Cast", {n.In(i)}, {{"to", DType::kF32}});
}

// Emits a Resize with nearest 'simple', which is the rounding of ONNX's Resize-10. It rounds up along axes
// with a scale below 1, and down along other axes. A current ONNX Resize has one rounding mode, so this
// function emits two nodes. The first one shrinks axes, and the second one enlarges axes.
Status SimpleResize(TernNode& n) {
  const Value* scales = n.node.input(2);
  if (!scales || !scales->is_constant()) return n.NotExportable("nearest 'simple' needs constant scales");
  Tensor shrink = scales->constant.Clone(), grow = scales->constant.Clone();
  for (int64_t i = 0; i < shrink.size(); ++i) StoreDouble(LoadDouble(shrink, i) < 1 ? grow : shrink, i, 1);
  const auto attrs = [&](const char* nearest) -> AttrList {
    return {{"mode", std::string("nearest")},
            {"coordinate_transformation_mode", n.attrs().Text("coordinates")},
            {"nearest_mode", std::string(nearest)}};
  };
  const std::string small = n.Op("Resize", {n.In(0), "", n.Const(shrink)}, attrs("ceil"));
  n.Emit("Resize", {small, "", n.Const(grow)}, n.Outs(), attrs("floor"));
  return {};
}

Status Resize(TernNode& n) {
  const Attrs& a = n.attrs();
  if (a.Text("mode") == "nearest" && a.Text("nearest") == "simple") return SimpleResize(n);
  std::string coordinates = a.Text("coordinates"), nearest = a.Text("nearest");
  if (coordinates == "tf_half_pixel_for_nn") {
    // tf_half_pixel_for_nn with the rounding floor equals half_pixel with the rounding round_prefer_ceil.
    // Current opsets have no equivalent of tf_half_pixel_for_nn with another rounding.
    if (a.Text("mode") != "nearest" || nearest != "floor")
      return n.NotExportable("ONNX has no tf_half_pixel_for_nn since opset 13");
    coordinates = "half_pixel";
    nearest = "round_prefer_ceil";
  }
  AttrList attrs = {{"mode", a.Text("mode")}, {"coordinate_transformation_mode", coordinates}};
  if (a.Text("mode") == "nearest") attrs.emplace_back("nearest_mode", nearest);
  if (a.Text("mode") == "cubic") attrs.emplace_back("cubic_coeff_a", static_cast<double>(a.Float("cubic_a")));
  if (a.Bool("antialias")) attrs.emplace_back("antialias", true);
  if (a.Bool("exclude_outside")) attrs.emplace_back("exclude_outside", true);
  if (coordinates == "tf_crop_and_resize")
    attrs.emplace_back("extrapolation_value", static_cast<double>(a.Float("extrapolation")));
  if (a.Text("aspect") != "stretch") attrs.emplace_back("keep_aspect_ratio_policy", a.Text("aspect"));
  if (!a.Ints("axes").empty()) attrs.emplace_back("axes", a.Ints("axes"));
  n.Emit("Resize", {n.In(0), n.In(1), Single(n, 2), Longs(n, 3)}, n.Outs(), attrs);
  return {};
}

Status RoiAlign(TernNode& n) {
  const Attrs& a = n.attrs();
  n.Emit("RoiAlign", {n.In(0), n.In(1), Longs(n, 2)}, n.Outs(),
         {{"mode", a.Text("mode")},
          {"output_height", a.Int("height")},
          {"output_width", a.Int("width")},
          {"sampling_ratio", a.Int("sampling_ratio")},
          {"spatial_scale", static_cast<double>(a.Float("spatial_scale"))},
          {"coordinate_transformation_mode",
           std::string(a.Bool("half_pixel") ? "half_pixel" : "output_half_pixel")}});
  return {};
}

Status AffineGrid(TernNode& n) {
  n.Emit("AffineGrid", {n.In(0), Longs(n, 1)}, n.Outs(),
         {{"align_corners", n.attrs().Bool("align_corners")}});
  return {};
}

Status NonMaxSuppression(TernNode& n) {
  n.Emit("NonMaxSuppression", {Single(n, 0), Single(n, 1), Longs(n, 2), Single(n, 3), Single(n, 4)}, n.Outs(),
         {{"center_point_box", n.attrs().Bool("center_point_box")}});
  return {};
}

Status Col2Im(TernNode& n) {
  AttrList attrs;
  for (const char* name : {"dilations", "pads", "strides"})
    if (!n.attrs().Ints(name).empty()) attrs.emplace_back(name, n.attrs().Ints(name));
  n.Emit("Col2Im", {n.In(0), Longs(n, 1), Longs(n, 2)}, n.Outs(), attrs);
  return {};
}

}  // namespace

TERN_EXPORTERS(image) {
  table.Add("Resize", Resize);
  table.Add("GridSample", DirectTo("GridSample", {"mode", "padding=padding_mode", "align_corners"}));
  table.Add("AffineGrid", AffineGrid);
  table.Add("RoiAlign", RoiAlign);
  table.Add("MaxRoiPool", DirectTo("MaxRoiPool", {"pooled_shape", "spatial_scale"}));
  table.Add("NonMaxSuppression", NonMaxSuppression);
  table.Add("Col2Im", Col2Im);
  table.Add("Det", DirectTo("Det"));
}

}  // namespace tern::onnx
