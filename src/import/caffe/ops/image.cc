// Converts layers that resample images or pool regions of them.
#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

Result<Dims> ImageDims(const Layer& n, int i) {
  TERN_ASSIGN(Dims dims, n.DimsOf(i));
  if (dims.size() != 4) return n.Bad("bottom ", i, " has ", dims.size(), " axes, but must have 4");
  return dims;
}

// Returns the size of the result of DeepLab's Interp layer along one axis. `size` is the number of elements
// after cropping.
Result<int64_t> InterpSize(const Layer& n, int64_t size, int64_t given) {
  const auto& p = n.proto.interp_param();
  int64_t out = size;
  if (p.has_height() || p.has_width()) {
    out = given;
  } else {
    if (p.has_shrink_factor()) {
      if (p.shrink_factor() < 1) return n.Bad("shrink_factor must be positive");
      out = (out - 1) / p.shrink_factor() + 1;
    }
    if (p.has_zoom_factor()) {
      if (p.zoom_factor() < 1) return n.Bad("zoom_factor must be positive");
      out += (out - 1) * (p.zoom_factor() - 1);
    }
  }
  if (out < 1) return n.Bad("the result would have ", out, " elements");
  return out;
}

// Emits a bilinear interpolation that aligns the corners of both images. Negative pads crop the bottom.
Status Interp(Layer& n) {
  const auto& p = n.proto.interp_param();
  TERN_ASSIGN(const Dims dims, ImageDims(n, 0));
  if (p.pad_beg() > 0 || p.pad_end() > 0) return n.Bad("pad_beg and pad_end must not be positive");
  Dims sizes(2), low = {-int64_t{p.pad_beg()}, -int64_t{p.pad_beg()}}, high(2);
  for (size_t i = 0; i < 2; ++i) {
    high[i] = dims[2 + i] + p.pad_end();
    if (high[i] <= low[i]) return n.Bad("the pads leave no elements of ", dims[2 + i]);
    if (n.Bottoms() == 2) {
      TERN_ASSIGN(const Dims other, ImageDims(n, 1));
      sizes[i] = other[2 + i];
    } else {
      TERN_ASSIGN(sizes[i], InterpSize(n, high[i] - low[i], i == 0 ? p.height() : p.width()));
    }
  }
  Value* x = n.In(0);
  if (p.pad_beg() != 0 || p.pad_end() != 0)
    x = n.b.Op("Slice", {x, n.b.Ints(low), n.b.Ints(high), n.b.Ints({2, 3})});
  n.Out(0, n.b.Op("Resize", {x, nullptr, nullptr, n.b.Ints(sizes)},
                  {{"mode", "linear"}, {"coordinates", "align_corners"}, {"axes", Dims{2, 3}}}));
  return {};
}

struct Size {
  int64_t height, width;
};

Result<Size> UpsampledSize(const Layer& n, const Dims& dims) {
  const auto& p = n.proto.upsample_param();
  const int64_t scale_h = p.has_scale_h() ? p.scale_h() : p.scale(),
                scale_w = p.has_scale_w() ? p.scale_w() : p.scale();
  if (scale_h < 1 || scale_w < 1) return n.Bad("scale must be positive");
  Size size{dims[2] * scale_h - (p.pad_out_h() ? 1 : 0), dims[3] * scale_w - (p.pad_out_w() ? 1 : 0)};
  if (p.has_upsample_h()) size.height = p.upsample_h();
  if (p.has_upsample_w()) size.width = p.upsample_w();
  if (size.height < 1 || size.width < 1 || size.height > INT32_MAX || size.width > INT32_MAX)
    return n.Bad("the result would be ", size.height, " x ", size.width);
  return size;
}

// With a mask (SegNet), the layer writes each element to a position in its plane. The mask, which a pooling
// layer computed, contains these positions. Without a mask, the layer repeats elements.
Status Upsample(Layer& n) {
  TERN_ASSIGN(const Dims dims, ImageDims(n, 0));
  TERN_ASSIGN(const Size size, UpsampledSize(n, dims));
  if (n.Bottoms() == 1) {
    n.Out(0, n.b.Op("Resize", {n.In(0), nullptr, nullptr, n.b.Ints({size.height, size.width})},
                    {{"mode", "nearest"},
                     {"coordinates", "asymmetric"},
                     {"nearest", "floor"},
                     {"axes", Dims{2, 3}}}));
    return {};
  }
  TERN_ASSIGN(const Dims mask_dims, ImageDims(n, 1));
  if (mask_dims != dims)
    return n.Bad("the mask is [", Join(mask_dims, ","), "], but must be [", Join(dims, ","), "]");
  const int64_t planes = dims[0] * dims[1];
  Value* x = Reshaped(n, n.In(0), {planes, -1});
  Value* positions = CastTo(n, Reshaped(n, n.In(1), {planes, -1}), DType::kI64);
  Value* zeros = n.b.Op("Fill", {n.b.Ints({planes, size.height * size.width})},
                        {{"value", Tensor::Of(DType::kF32, {1}, {0})}});
  Value* y = n.b.Op("ScatterElements", {zeros, positions, x}, {{"axis", int64_t{1}}});
  n.Out(0, Reshaped(n, y, {dims[0], dims[1], size.height, size.width}));
  return {};
}

// Regions are rows [item, x1, y1, x2, y2], possibly with further dims of size 1.
Value* Regions(Layer& n) { return Reshaped(n, n.In(1), {-1, 5}); }

Status RoiPooling(Layer& n) {
  const auto& p = n.proto.roi_pooling_param();
  if (p.pooled_h() < 1 || p.pooled_w() < 1) return n.Bad("pooled_h and pooled_w must be positive");
  n.Out(0, n.b.Op("MaxRoiPool", {n.In(0), Regions(n)},
                  {{"pooled_shape", Dims{p.pooled_h(), p.pooled_w()}},
                   {"spatial_scale", static_cast<double>(p.spatial_scale())}}));
  return {};
}

Status PsRoiPooling(Layer& n) {
  const auto& p = n.proto.psroi_pooling_param();
  n.Out(0, n.b.Op("PsRoiPool", {n.In(0), Regions(n)},
                  {{"output_dim", p.output_dim()},
                   {"group_size", p.group_size()},
                   {"spatial_scale", static_cast<double>(p.spatial_scale())}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(image) {
  table.Add("Interp", Interp, {1, 2, 1, 1});
  table.Add("PSROIPooling", PsRoiPooling, {2, 2, 1, 1});
  table.Add("ROIPooling", RoiPooling, {2, 2, 1, 1});
  table.Add("Upsample", Upsample, {1, 2, 1, 1});
}

}  // namespace tern::caffe
