// Padding, resampling and im2col.
#include <algorithm>
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

// PyTorch lists the pads from the last axis to the first axis. The pads of an axis are its start and its end.
Status EmitPad(AtenNode& n, const std::vector<Arg>& pads, const char* mode, Value* value) {
  Value* x = n.In("self");
  const auto axes = static_cast<int64_t>(pads.size() / 2);
  std::vector<Arg> starts, ends;
  std::vector<int64_t> which;
  for (int64_t i = axes; i-- > 0;) {
    starts.push_back(pads[static_cast<size_t>(2 * i)]);
    ends.push_back(pads[static_cast<size_t>(2 * i + 1)]);
    which.push_back(-1 - i);
  }
  bool nothing = true;
  for (const Arg& p : pads) nothing &= p.known() && p.integer == 0;
  if (nothing) {
    n.Out(x);
    return {};
  }
  starts.insert(starts.end(), ends.begin(), ends.end());
  n.Out(n.b.Op("Pad", {x, IntVector(n.b, starts), value, n.b.Ints(which)}, {{"mode", mode}}));
  return {};
}

Status ConstantPad(AtenNode& n) {
  Value* value = n.Has("value") ? As(n, "value", n.TypeOf("self")) : nullptr;
  return EmitPad(n, n.Get("pad").items, "constant", value);
}

Status PadMode(AtenNode& n) {
  const std::string mode = n.Text("mode", "constant");
  if (mode == "constant") return ConstantPad(n);
  const char* name = mode == "reflect"     ? "reflect"
                     : mode == "replicate" ? "edge"
                     : mode == "circular"  ? "wrap"
                                           : nullptr;
  if (!name) return n.Bad("mode '", mode, "'");
  return EmitPad(n, n.Get("pad").items, name, nullptr);
}

Converter Border(const char* mode) {
  return [mode](AtenNode& n) { return EmitPad(n, n.Get("padding").items, mode, nullptr); };
}

struct Sampling {
  const char *mode, *nearest;
  bool exact = false, antialias = false;
};

// Resamples the spatial axes. The call gives sizes, factors or both. If it gives both, PyTorch uses the
// factors to compute the positions of samples.
Status Upsample(AtenNode& n, const Sampling& how) {
  const char* input = n.HasParameter("input") ? "input" : "self";
  Value* x = n.In(input);
  const int rank = x->type.shape.rank();
  if (rank < 3) return n.NotYet("a tensor ", x->type.ToString());
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
  std::vector<double> factors;
  if (n.Get("scale_factors").list()) factors = n.Floats("scale_factors");
  for (const char* name : {"scales", "scales_d", "scales_h", "scales_w"})
    if (n.HasParameter(name) && n.Has(name)) factors.push_back(n.Float(name));
  const bool corners = n.HasParameter("align_corners") && n.Bool("align_corners");
  const bool nearest = std::string_view(how.mode) == "nearest";
  const char* coordinates = corners ? "align_corners" : nearest && !how.exact ? "asymmetric" : "half_pixel";
  const AttrList attrs = {{"mode", how.mode},
                          {"coordinates", coordinates},
                          {"nearest", how.nearest},
                          {"axes", axes},
                          {"cubic_a", how.antialias ? -0.5 : -0.75},
                          {"antialias", how.antialias},
                          {"exclude_outside", how.antialias}};
  const bool by_size = n.Get("output_size").list() && !n.Get("output_size").items.empty();
  if (by_size && n.Get("output_size").items.size() != axes.size())
    return n.Bad("output_size has ", n.Get("output_size").items.size(), " items, but must have ",
                 axes.size());
  bool by_factor = factors.size() == axes.size() && !corners;
  if (by_factor && by_size) {  // the factors must give the size
    for (size_t i = 0; i < axes.size(); ++i) {
      const Arg in = SizeOf(n.b, x, axes[i]), out = n.Get("output_size").items[i];
      by_factor &=
          in.known() && out.known() &&
          static_cast<int64_t>(std::floor(static_cast<double>(in.integer) * factors[i])) == out.integer;
    }
  }
  if (!by_size && factors.size() != axes.size()) return n.Bad("neither a size nor factors");
  if (!by_factor && !by_size) {  // align_corners needs the size
    std::vector<Arg> sizes;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Arg in = SizeOf(n.b, x, axes[i]);
      TERN_ASSIGN(Arg scaled, ScalarOp(n.context, "mul", {in, Arg::Float(factors[i])}, {n.name, n.origin}));
      TERN_ASSIGN(Arg size, ScalarOp(n.context, "floor", {scaled}, {n.name, n.origin}));
      sizes.push_back(size);
    }
    n.Out(n.b.Op("Resize", {x, nullptr, nullptr, IntVector(n.b, sizes)}, attrs));
    return {};
  }
  if (by_factor) {
    Value* scales = n.b.Const(Tensor::Of(DType::kF32, {static_cast<int64_t>(factors.size())}, factors));
    n.Out(n.b.Op("Resize", {x, nullptr, scales}, attrs));
    return {};
  }
  n.Out(n.b.Op("Resize", {x, nullptr, nullptr, IntVector(n.b, n.Get("output_size").items)}, attrs));
  return {};
}

Converter Resampling(const Sampling& how) {
  return [how](AtenNode& n) { return Upsample(n, how); };
}

Status GridSample(AtenNode& n) {
  static const char* const kModes[] = {"linear", "nearest", "cubic"};
  static const char* const kPads[] = {"zeros", "border", "reflection"};
  const int64_t mode = n.Int("interpolation_mode"), pad = n.Int("padding_mode");
  if (mode < 0 || mode > 2 || pad < 0 || pad > 2) return n.Bad("interpolation ", mode, " with padding ", pad);
  n.Out(
      n.b.Op("GridSample", {n.In("input"), n.In("grid")},
             {{"mode", kModes[mode]}, {"padding", kPads[pad]}, {"align_corners", n.Bool("align_corners")}}));
  return {};
}

Status AffineGrid(AtenNode& n) {
  n.Out(n.b.Op("AffineGrid", {n.In("theta"), IntVector(n.b, n.Get("size").items)},
               {{"align_corners", n.Bool("align_corners")}}));
  return {};
}

std::vector<int64_t> Two(std::vector<int64_t> v) {
  if (v.size() == 1) v.push_back(v[0]);
  return v;
}

// im2col: the windows of an image [N, C, H, W] as the columns of [N, C·kh·kw, L].
Status Im2Col(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const bool unbatched = x->type.shape.rank() == 3;
  if (unbatched) x = e.Unsqueeze(x, {0});
  const auto kernel = Two(n.Ints("kernel_size")), dilation = Two(n.Ints("dilation")),
             padding = Two(n.Ints("padding")), stride = Two(n.Ints("stride"));
  if (kernel.size() != 2 || dilation.size() != 2 || padding.size() != 2 || stride.size() != 2)
    return n.Bad("kernel_size, dilation, padding and stride must have 2 items each");
  for (size_t i = 0; i < 2; ++i)
    if (kernel[i] < 1 || dilation[i] < 1 || stride[i] < 1 || std::max(kernel[i], dilation[i]) > INT32_MAX)
      return n.Bad("kernel_size ", kernel[i], ", dilation ", dilation[i], " and stride ", stride[i]);
  if (padding[0] || padding[1])
    x = n.b.Op("Pad",
               {x, n.b.Ints({padding[0], padding[1], padding[0], padding[1]}), nullptr, n.b.Ints({2, 3})});
  const auto places = [&](int64_t axis, size_t i) {
    Value* size = ScalarValue(n.b, SizeOf(n.b, x, axis), DType::kI64);
    Value* span = e.Sub(size, e.Long(dilation[i] * (kernel[i] - 1) + 1));
    Value* starts = e.Mul(e.Iota(e.Add(e.Div(span, e.Long(stride[i])), e.Long(1))), e.Long(stride[i]));
    Value* taps = e.Mul(e.Iota(e.Long(kernel[i])), e.Long(dilation[i]));
    return e.Add(e.Unsqueeze(taps, {1}), e.Unsqueeze(starts, {0}));  // [k, blocks]
  };
  Value* rows = n.b.Op("Gather", {x, places(2, 0)}, {{"axis", int64_t{2}}});       // [N, C, kh, bh, W]
  Value* blocks = n.b.Op("Gather", {rows, places(3, 1)}, {{"axis", int64_t{4}}});  // [N, C, kh, bh, kw, bw]
  Value* y = e.Transpose(blocks, {0, 1, 2, 4, 3, 5});
  const Arg channels = SizeOf(n.b, x, 1);
  TERN_ASSIGN(Arg count,
              ScalarOp(n.context, "mul", {channels, Arg::Int(kernel[0] * kernel[1])}, {n.name, n.origin}));
  y = ReshapeTo(n.b, y, {SizeOf(n.b, x, 0), count, Arg::Int(-1)});
  n.Out(unbatched ? e.Squeeze(y, {0}) : y);
  return {};
}

Status Col2Im(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const bool unbatched = x->type.shape.rank() == 2;
  if (unbatched) x = e.Unsqueeze(x, {0});
  const auto kernel = Two(n.Ints("kernel_size")), dilation = Two(n.Ints("dilation")),
             padding = Two(n.Ints("padding")), stride = Two(n.Ints("stride"));
  if (kernel.size() != 2 || dilation.size() != 2 || padding.size() != 2 || stride.size() != 2)
    return n.Bad("kernel_size, dilation, padding and stride must have 2 items each");
  Value* y = n.b.Op("Col2Im", {x, IntVector(n.b, n.Get("output_size").items), n.b.Ints(kernel)},
                    {{"dilations", dilation},
                     {"pads", std::vector<int64_t>{padding[0], padding[1], padding[0], padding[1]}},
                     {"strides", stride}});
  n.Out(unbatched ? e.Squeeze(y, {0}) : y);
  return {};
}

}  // namespace

TERN_CONVERTERS(image) {
  table.Add("aten::constant_pad_nd", ConstantPad);
  table.Add("aten::pad", PadMode);
  for (const char* op : {"aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d"})
    table.Add(op, Border("reflect"));
  for (const char* op : {"aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d"})
    table.Add(op, Border("edge"));
  for (const char* op : {"aten::upsample_nearest1d", "aten::upsample_nearest2d", "aten::upsample_nearest3d"})
    table.Add(op, Resampling({"nearest", "floor"}));
  for (const char* op : {"aten::_upsample_nearest_exact1d", "aten::_upsample_nearest_exact2d",
                         "aten::_upsample_nearest_exact3d"})
    table.Add(op, Resampling({"nearest", "round_prefer_ceil", true}));
  for (const char* op :
       {"aten::upsample_linear1d", "aten::upsample_bilinear2d", "aten::upsample_trilinear3d"})
    table.Add(op, Resampling({"linear", "floor"}));
  table.Add("aten::upsample_bicubic2d", Resampling({"cubic", "floor"}));
  table.Add("aten::_upsample_bilinear2d_aa", Resampling({"linear", "floor", false, true}));
  table.Add("aten::_upsample_bicubic2d_aa", Resampling({"cubic", "floor", false, true}));
  table.Add("aten::grid_sampler", GridSample);
  table.Add("aten::grid_sampler_2d", GridSample);
  table.Add("aten::grid_sampler_3d", GridSample);
  table.Add("aten::affine_grid_generator", AffineGrid);
  table.Add("aten::im2col", Im2Col);
  table.Add("aten::col2im", Col2Im);
}

}  // namespace tern::torch
