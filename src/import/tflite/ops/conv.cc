// Converts convolutions. Their operands are imported as [N, C, H, W].
#include "import/tflite/ops/emit.h"
#include "import/tflite/ops/hybrid.h"

namespace tern::tflite {
namespace {

const char* AutoPad(int padding) { return padding == 0 ? "same_upper" : "valid"; }

Status CheckStrides(const LiteNode& n, const std::vector<int64_t>& values) {
  for (int64_t v : values)
    if (v < 1) return n.Bad("the stride or dilation ", v, " is not positive");
  return {};
}

struct Window {
  std::vector<int64_t> strides, dilations;
  int padding = 0, activation = 0;
};

template <class Options> Window WindowOf(const Options& o) {
  return {{o.stride_h(), o.stride_w()}, {o.dilation_h(), o.dilation_w()}, o.padding(), o.activation()};
}

// Returns the pads of the padding SAME: first the pads at the start of each axis, then those at the end.
// Returns an empty list if a size is unknown.
std::vector<int64_t> SamePads(const Window& w, const Shape& x, const std::vector<Dim>& kernel) {
  std::vector<int64_t> pads(4);
  for (size_t i = 0; i < 2; ++i) {
    const Dim& size = x[static_cast<int>(i) + 2];
    if (!size.known() || !kernel[i].known()) return {};
    const int64_t steps = (size.value() + w.strides[i] - 1) / w.strides[i];
    const int64_t reach = (steps - 1) * w.strides[i] + (kernel[i].value() - 1) * w.dilations[i] + 1;
    const int64_t total = std::max<int64_t>(reach - size.value(), 0);
    pads[i] = total / 2, pads[i + 2] = total - total / 2;
  }
  return pads;
}

// `x` is [N, C, H, W], and `kernel` is [H, W].
AttrList AttrsOf(const Window& w, const Shape& x, const std::vector<Dim>& kernel, int64_t group) {
  AttrList attrs = {{"strides", w.strides}, {"dilations", w.dilations}, {"group", group}};
  const std::vector<int64_t> pads = w.padding == 0 ? SamePads(w, x, kernel) : std::vector<int64_t>();
  if (!pads.empty())
    attrs.emplace_back("pads", pads);
  else
    attrs.emplace_back("auto_pad", AttrValue(std::string(AutoPad(w.padding))));
  return attrs;
}

Status Conv2D(LiteNode& n) {
  const Window window = WindowOf(n.Options<fb::Conv2DOptions>());
  TERN_TRY(CheckStrides(n, window.strides));
  TERN_TRY(CheckStrides(n, window.dilations));
  const Shape& filter = n.In(1)->type.shape;
  Value* x = n.In(0, Layout::kFirst);
  if (filter.rank() != 4 || x->type.shape.rank() != 4)
    return n.Bad("the input and the filter must have 4 dims");
  if (!filter[3].known() || !x->type.shape[1].known() || filter[3].value() < 1 ||
      x->type.shape[1].value() % filter[3].value() != 0)
    return n.Bad("the filter has ", filter[3].ToString(), " input channels, the input has ",
                 x->type.shape[1].ToString());
  const int64_t group = x->type.shape[1].value() / filter[3].value();
  const AttrList attrs = AttrsOf(window, x->type.shape, {filter[1], filter[2]}, group);
  Value* w = n.RealPermuted(1, {0, 3, 1, 2});
  if (IsHybrid(n, 0, 1)) {
    TERN_ASSIGN(Value * y, HybridConv(n, w, attrs));
    n.OutReal(0, n.Activate(y, window.activation), Layout::kFirst);
    return {};
  }
  TERN_ASSIGN(Value * bias, QuantizedBias(n, 0, 1, 2));
  Value* y = n.b.Op("Conv", {n.Real(0, Layout::kFirst), w, bias}, attrs);
  n.OutReal(0, n.Activate(y, window.activation), Layout::kFirst);
  return {};
}

// The filter is [1, H, W, channels * multiplier].
Status DepthwiseConv2D(LiteNode& n) {
  const Window window = WindowOf(n.Options<fb::DepthwiseConv2DOptions>());
  TERN_TRY(CheckStrides(n, window.strides));
  TERN_TRY(CheckStrides(n, window.dilations));
  Value* x = n.In(0, Layout::kFirst);
  const Shape& filter = n.In(1)->type.shape;
  if (x->type.shape.rank() != 4 || !x->type.shape[1].known() || filter.rank() != 4 || !filter[0].Is(1))
    return n.Bad("the input must have 4 dims, and the filter must be [1, H, W, C]");
  Value* w = n.RealPermuted(1, {3, 0, 1, 2});
  const AttrList attrs = AttrsOf(window, x->type.shape, {filter[1], filter[2]}, x->type.shape[1].value());
  if (IsHybrid(n, 0, 1)) {
    TERN_ASSIGN(Value * y, HybridConv(n, w, attrs));
    n.OutReal(0, n.Activate(y, window.activation), Layout::kFirst);
    return {};
  }
  TERN_ASSIGN(Value * bias, QuantizedBias(n, 0, 1, 2));
  Value* y = n.b.Op("Conv", {n.Real(0, Layout::kFirst), w, bias}, attrs);
  n.OutReal(0, n.Activate(y, window.activation), Layout::kFirst);
  return {};
}

// Returns the pads of a transposed convolution. `out` are the spatial sizes of the result. The pads at the
// start are those of the convolution that maps the result to the input.
Result<AttrList> TransposedPads(LiteNode& n, const Shape& x, const Shape& filter, const std::vector<Dim>& out,
                                int first_kernel, const std::vector<int64_t>& strides,
                                const std::vector<int64_t>& dilations, bool same) {
  const size_t spatial = strides.size();
  std::vector<int64_t> begin(spatial), end(spatial), extra(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const Dim &in = x[static_cast<int>(i) + 2], &k = filter[static_cast<int>(i) + first_kernel];
    if (!k.known()) return n.NotYet("a filter of unknown size");
    if (out[i].known() && (out[i].value() < 0 || out[i].value() > INT32_MAX))
      return n.Bad("a result of ", out[i].ToString(), " elements");
    // The sizes may be symbols, as long as their difference is known.
    const Dim stride(strides[i]), kernel((k.value() - 1) * dilations[i] + 1);
    const Dim surplus = (in - 1) * stride + kernel - out[i];
    const Dim total = same ? (CeilDiv(out[i], stride) - 1) * stride + kernel - out[i] : Dim(0);
    if (!surplus.known() || !total.known()) return n.NotYet("an input or result of unknown size");
    begin[i] = std::max<int64_t>(total.value(), 0) / 2;
    end[i] = surplus.value() - begin[i];
    if (end[i] < 0) extra[i] = -end[i], end[i] = 0;
    if (extra[i] >= std::max(strides[i], dilations[i]))
      return n.Bad("a result of ", out[i].ToString(), " elements is too large for an input of ",
                   in.ToString(), " and the stride ", strides[i]);
  }
  begin.insert(begin.end(), end.begin(), end.end());
  return AttrList{{"strides", strides}, {"dilations", dilations}, {"pads", begin}, {"output_padding", extra}};
}

// The inputs are the result's shape, the filter [out channels, H, W, in channels], x and the bias.
Status TransposeConv(LiteNode& n) {
  const auto& o = n.Options<fb::TransposeConvOptions>();
  const std::vector<int64_t> strides = {o.stride_h(), o.stride_w()};
  TERN_TRY(CheckStrides(n, strides));
  const auto shape = n.Dims(0);
  Value* x = n.In(2, Layout::kFirst);
  if (!shape || shape->size() != 4) return n.NotYet("a shape of the result that is not constant");
  const Shape filter = n.In(1)->type.shape;
  if (filter.rank() != 4 || x->type.shape.rank() != 4)
    return n.Bad("the input and the filter must have 4 dims");
  TERN_ASSIGN(const AttrList attrs, TransposedPads(n, x->type.shape, filter, {(*shape)[1], (*shape)[2]}, 1,
                                                   strides, {1, 1}, o.padding() == 0));
  TERN_ASSIGN(Value * bias, QuantizedBias(n, 2, 1, 3));
  Value* image = n.Real(2, Layout::kFirst);
  if (IsHybrid(n, 2, 1)) image = RoundedRows(n.b, image, true);
  Value* y = n.b.Op("ConvTranspose", {image, n.RealPermuted(1, {3, 0, 1, 2}), bias}, attrs);
  n.OutReal(0, n.Activate(y, o.activation()), Layout::kFirst);
  return {};
}

// x is [N, D, H, W, C], the filter is [D, H, W, in channels, out channels].
Status Conv3D(LiteNode& n) {
  const auto& o = n.Options<fb::Conv3DOptions>();
  const std::vector<int64_t> strides = {o.stride_d(), o.stride_h(), o.stride_w()};
  const std::vector<int64_t> dilations = {o.dilation_d(), o.dilation_h(), o.dilation_w()};
  TERN_TRY(CheckStrides(n, strides));
  TERN_TRY(CheckStrides(n, dilations));
  Value* x = Transposed(n.b, n.Real(0), {0, 4, 1, 2, 3});
  Value* w = n.RealPermuted(1, {4, 3, 0, 1, 2});
  Value* y = n.b.Op("Conv", {x, w, n.OptionalReal(2)},
                    {{"strides", strides}, {"dilations", dilations}, {"auto_pad", AutoPad(o.padding())}});
  n.OutReal(0, Transposed(n.b, n.Activate(y, o.activation()), {0, 2, 3, 4, 1}));
  return {};
}

// The inputs are the result's shape, the filter [D, H, W, out channels, in channels], x and the bias.
Status Conv3DTranspose(LiteNode& n) {
  const auto& o = n.Options<fb::Conv3DOptions>();
  const std::vector<int64_t> strides = {o.stride_d(), o.stride_h(), o.stride_w()};
  const std::vector<int64_t> dilations = {o.dilation_d(), o.dilation_h(), o.dilation_w()};
  TERN_TRY(CheckStrides(n, strides));
  TERN_TRY(CheckStrides(n, dilations));
  const auto shape = n.Dims(0);
  if (!shape || shape->size() != 5) return n.NotYet("a shape of the result that is not constant");
  const Shape filter = n.In(1)->type.shape;
  Value* x = Transposed(n.b, n.Real(2), {0, 4, 1, 2, 3});
  if (filter.rank() != 5 || x->type.shape.rank() != 5)
    return n.Bad("the input and the filter must have 5 dims");
  TERN_ASSIGN(const AttrList attrs,
              TransposedPads(n, x->type.shape, filter, {(*shape)[1], (*shape)[2], (*shape)[3]}, 0, strides,
                             dilations, o.padding() == 0));
  Value* y = n.b.Op("ConvTranspose", {x, n.RealPermuted(1, {4, 3, 0, 1, 2}), n.OptionalReal(3)}, attrs);
  n.OutReal(0, Transposed(n.b, n.Activate(y, o.activation()), {0, 2, 3, 4, 1}));
  return {};
}

}  // namespace

TERN_CONVERTERS(conv) {
  table.Add("CONV_2D", 2, Conv2D);
  table.Add("DEPTHWISE_CONV_2D", 2, DepthwiseConv2D);
  table.Add("TRANSPOSE_CONV", 3, TransposeConv);
  table.Add("CONV_3D", 2, Conv3D);
  table.Add("CONV_3D_TRANSPOSE", 3, Conv3DTranspose);
}

}  // namespace tern::tflite
