// Operators of torchvision.
#include <algorithm>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

// Returns the indices of the boxes that remain, in the order of descending scores.
Status Nms(AtenNode& n) {
  Emit e(n.b);
  Value *boxes = e.Unsqueeze(n.In("dets"), {0}), *scores = e.Unsqueeze(n.In("scores"), {0, 1});
  Value* all = ScalarValue(n.b, SizeOf(n.b, n.In("dets"), 0), DType::kI64);
  Value* selected =
      n.b.Op("NonMaxSuppression", {boxes, scores, all, n.b.Scalar(DType::kF32, n.Float("iou_threshold"))});
  n.Out(n.b.Op("Gather", {selected, e.Long(2)}, {{"axis", int64_t{1}}}));
  return {};
}

// Column 0 of the regions is the index of the image.
Status RoiAlign(AtenNode& n) {
  Emit e(n.b);
  Value* rois = n.In("rois");
  Value* images = e.Cast(n.b.Op("Gather", {rois, e.Long(0)}, {{"axis", int64_t{1}}}), DType::kI64);
  n.Out(n.b.Op("RoiAlign", {n.In("input"), e.Slice(rois, 1, 1, 5), images},
               {{"height", n.Int("pooled_height")},
                {"width", n.Int("pooled_width")},
                {"sampling_ratio", std::max<int64_t>(n.Int("sampling_ratio"), 0)},
                {"spatial_scale", n.Float("spatial_scale")},
                {"half_pixel", n.Bool("aligned")}}));
  return {};
}

Status DeformConv(AtenNode& n) {
  const int64_t top = n.Int("pad_h"), left = n.Int("pad_w");
  n.Out(n.b.Op("DeformConv",
               {n.In("input"), n.In("weight"), n.In("offset"), n.In("bias"),
                n.Bool("use_mask") ? n.In("mask") : nullptr},
               {{"strides", std::vector<int64_t>{n.Int("stride_h"), n.Int("stride_w")}},
                {"pads", std::vector<int64_t>{top, left, top, left}},
                {"dilations", std::vector<int64_t>{n.Int("dilation_h"), n.Int("dilation_w")}},
                {"group", n.Int("groups")},
                {"offset_group", n.Int("offset_groups")}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(vision) {
  table.Add("torchvision::nms", Nms);
  table.Add("torchvision::roi_align", RoiAlign);
  table.Add("torchvision::deform_conv2d", DeformConv);
}

}  // namespace tern::torch
