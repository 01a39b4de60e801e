// Converts convolutions.
#include "import/tensorflow/ops/window.h"

namespace tern::tensorflow {
namespace {

// The dims of a filter [spatial…, inputs, outputs].
Result<std::vector<int64_t>> FilterDims(TfNode& n, int i, int rank) {
  const Shape& shape = n.In(i)->type.shape;
  if (!shape.fully_known()) return n.NotYet("the shape of the filter is unknown");
  if (shape.rank() != rank) return n.Bad("the filter has ", shape.rank(), " axes, but must have ", rank);
  for (const Dim& d : shape.dims)
    if (d.value() > INT32_MAX) return n.Bad("the filter has the size ", d.value());
  return shape.Concrete();
}

// [spatial…, a, b] as [b, a, spatial…]
Value* FilterFirst(TfNode& n, Value* filter, int rank) {
  std::vector<int64_t> perm = {rank - 1, rank - 2};
  for (int64_t i = 0; i < rank - 2; ++i) perm.push_back(i);
  return n.Transpose(filter, perm);
}

Result<int64_t> ChannelsOf(TfNode& n, const Value* x) {
  if (x->type.shape.rank() < 3) return n.Bad("the input has too few axes");
  const Dim& channels = x->type.shape[1];
  return channels.known() ? channels.value() : -1;
}

Status Conv(TfNode& n, int rank) {
  TERN_ASSIGN(const bool first, IsChannelsFirst(n));
  TERN_ASSIGN(const auto filter, FilterDims(n, 1, rank));
  TERN_ASSIGN(const auto strides, Spatial(n, n.Ints("strides"), first, "strides"));
  TERN_ASSIGN(const auto dilations, Spatial(n, n.Ints("dilations"), first, "dilations"));
  Value* x = WindowInput(n, 0, first);
  TERN_TRY(Status(n.b.status()));
  TERN_ASSIGN(const int64_t channels, ChannelsOf(n, x));
  const int64_t inputs = filter[static_cast<size_t>(rank) - 2];
  if (inputs < 1 || (channels > 0 && channels % inputs != 0))
    return n.Bad("the input has ", channels, " channels, but the filter has ", inputs);
  TERN_ASSIGN(AttrList attrs,
              WindowAttrs(n, x, {filter.begin(), filter.end() - 2}, first, strides, dilations));
  attrs.emplace_back("group", channels > 0 ? channels / inputs : int64_t{1});
  WindowOutput(n, 0, n.Op("Conv", {x, FilterFirst(n, n.In(1), rank)}, attrs), first);
  return {};
}

// The filter [h, w, channels, multiplier] has one group per channel.
Status DepthwiseConv(TfNode& n) {
  TERN_ASSIGN(const bool first, IsChannelsFirst(n));
  TERN_ASSIGN(const auto filter, FilterDims(n, 1, 4));
  TERN_ASSIGN(const auto strides, Spatial(n, n.Ints("strides"), first, "strides"));
  TERN_ASSIGN(const auto dilations, Spatial(n, n.Ints("dilations"), first, "dilations"));
  Value* x = WindowInput(n, 0, first);
  TERN_TRY(Status(n.b.status()));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, x, {filter[0], filter[1]}, first, strides, dilations));
  attrs.emplace_back("group", filter[2]);
  Value* flat = n.Reshape(n.In(1), {filter[0], filter[1], 1, filter[2] * filter[3]});
  WindowOutput(n, 0, n.Op("Conv", {x, FilterFirst(n, flat, 4)}, attrs), first);
  return {};
}

// What is cropped from the full result of a transposed convolution at the start and end of one axis, and what
// is added at its end. TensorFlow states the size of the result, from which these numbers follow.
struct Crop {
  int64_t begin = 0, end = 0, added = 0;
};

// The surplus of the full result over the wanted size, if it is known.
std::optional<int64_t> Surplus(const Dim& small, const Dim& large, int64_t kernel, int64_t stride) {
  const Dim surplus = (small - Dim(1)) * Dim(stride) + Dim(kernel) - large;
  return surplus.known() ? std::optional<int64_t>(surplus.value()) : std::nullopt;
}

Result<Crop> CropOf(TfNode& n, const Dim& small, const Dim& large, int64_t kernel, int64_t stride,
                    const std::string& padding, std::pair<int64_t, int64_t> pads) {
  constexpr int64_t kMost = int64_t{1} << 46;
  for (const int64_t v : {large.known() ? large.value() : 0, pads.first, pads.second})
    if (v < -kMost || v > kMost) return n.Bad("a size or pad of ", v);
  const auto known = Surplus(small, large, kernel, stride);
  if (!known) return Crop{0, 0, 0};
  const int64_t total = *known;
  Crop crop;
  if (padding == "EXPLICIT") {
    crop.begin = pads.first;
    crop.end = pads.second;
    crop.added = crop.begin + crop.end - total;
  } else {
    const int64_t cropped = padding == "SAME" ? std::max<int64_t>(total, 0) : 0;
    crop.begin = cropped / 2;
    crop.end = cropped - cropped / 2;
    crop.added = cropped - total;
  }
  if (crop.added < 0 || crop.added >= std::max<int64_t>(stride, 2))
    return n.NotYet("a result of size ", large.ToString(), " from ", small.ToString(), " with stride ",
                    stride, " and kernel ", kernel);
  return crop;
}

Dim ElementOf(const Value* v, size_t i) {
  if (v->is_constant() && static_cast<int64_t>(i) < v->constant.size())
    return Dim(LoadLong(v->constant, static_cast<int64_t>(i)));
  if (v->content && i < v->content->size()) return (*v->content)[i];
  return {};
}

// Crops the full result y at run time, and pads it with zeros where it is too small.
Result<Value*> CropLater(TfNode& n, Value* y, Value* large, const std::string& padding) {
  if (padding == "EXPLICIT") return n.NotYet("explicit pads and a size that is known only at run time");
  TERN_ASSIGN(const int rank, n.RankOf(y));
  Value* full = n.Op("Shape", {y}, {{"start", 2}});
  Value* zero = n.b.Ints({0});
  Value* begin = n.Binary("mul", full, zero);
  if (padding == "SAME")
    begin = n.Binary("div", n.Binary("max", n.Binary("sub", full, large), zero), n.b.Ints({2}));
  Value* end = n.Binary("sub", n.Binary("add", large, begin), full);
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
  return n.Op("Pad", {y, n.Concat({n.Unary("neg", begin), end}, 0), nullptr, n.b.Ints(axes)});
}

Status ConvTranspose(TfNode& n, int rank) {
  TERN_ASSIGN(const bool first, IsChannelsFirst(n));
  TERN_ASSIGN(const auto filter, FilterDims(n, 1, rank));
  TERN_ASSIGN(const auto strides, Spatial(n, n.Ints("strides"), first, "strides"));
  TERN_ASSIGN(const auto dilations, Spatial(n, n.Ints("dilations"), first, "dilations"));
  Value* x = WindowInput(n, 2, first);
  TERN_TRY(Status(n.b.status()));
  if (x->type.shape.rank() != rank) return n.Bad("the input has rank ", x->type.shape.rank());
  const Value* sizes = n.In(0);
  const bool spatial_only = (sizes->type.shape.rank() == 1 && sizes->type.shape[0].Is(rank - 2));
  const auto explicit_pads =
      n.HasAttr("explicit_paddings") ? n.Ints("explicit_paddings") : std::vector<int64_t>();
  if (strides.size() + 2 != static_cast<size_t>(rank) || dilations.size() != strides.size())
    return n.Bad("strides or dilations do not fit the filter");
  std::vector<int64_t> begins, ends, added;
  bool open = false;  // a size is known only at run time
  for (size_t i = 0; i + 2 < static_cast<size_t>(rank); ++i) {
    const size_t axis = i + (first ? 2 : 1);
    const int64_t kernel = (filter[i] - 1) * dilations[i] + 1;
    std::pair<int64_t, int64_t> pads = {0, 0};
    if (n.Text("padding") == "EXPLICIT") {
      if (explicit_pads.size() != 2 * static_cast<size_t>(rank))
        return n.Bad("explicit_paddings has ", explicit_pads.size(), " entries");
      pads = {explicit_pads[2 * axis], explicit_pads[2 * axis + 1]};
    }
    const Dim &small = x->type.shape[static_cast<int>(i) + 2],
              large = ElementOf(sizes, spatial_only ? i : axis);
    open = open || !Surplus(small, large, kernel, strides[i]);
    TERN_ASSIGN(const Crop crop, CropOf(n, small, large, kernel, strides[i], n.Text("padding"), pads));
    begins.push_back(crop.begin);
    ends.push_back(crop.end);
    added.push_back(crop.added);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  if (open) {
    begins.assign(begins.size(), 0);
    added.assign(added.size(), 0);
  }
  const int64_t inputs = filter[static_cast<size_t>(rank) - 1];
  const Dim& channels = x->type.shape[1];
  if (channels.known() && channels.value() != inputs)
    return n.Bad("the input has ", channels.value(), " channels, but the filter has ", inputs);
  const AttrList attrs = {
      {"strides", strides}, {"dilations", dilations}, {"pads", begins}, {"output_padding", added}};
  Value* y = n.Op("ConvTranspose", {x, FilterFirst(n, n.In(1), rank)}, attrs);
  if (open) {
    Value* large = n.Cast(n.In(0), DType::kI64);
    if (!spatial_only) large = n.Slice(large, 0, first ? 2 : 1, first ? rank : rank - 1);
    TERN_ASSIGN(y, CropLater(n, y, large, n.Text("padding")));
  }
  WindowOutput(n, 0, y, first);
  return {};
}

// The transpose of a depthwise convolution: one group per channel of the result.
Status DepthwiseTranspose(TfNode& n) {
  TERN_ASSIGN(const bool first, IsChannelsFirst(n));
  TERN_ASSIGN(const auto filter, FilterDims(n, 1, 4));
  TERN_ASSIGN(const auto strides, Spatial(n, n.Ints("strides"), first, "strides"));
  TERN_ASSIGN(const auto dilations, Spatial(n, n.Ints("dilations"), first, "dilations"));
  Value* x = WindowInput(n, 2, first);
  TERN_TRY(Status(n.b.status()));
  if (x->type.shape.rank() != 4) return n.Bad("the input has rank ", x->type.shape.rank());
  if (strides.size() != 2 || dilations.size() != 2)
    return n.Bad("strides or dilations do not fit the filter");
  std::vector<int64_t> begins, ends, added;
  for (size_t i = 0; i < 2; ++i) {
    if (!Surplus(x->type.shape[static_cast<int>(i) + 2], ElementOf(n.In(0), i + (first ? 2 : 1)),
                 (filter[i] - 1) * dilations[i] + 1, strides[i]))
      return n.NotYet("a size that is known only at run time");
    TERN_ASSIGN(const Crop crop,
                CropOf(n, x->type.shape[static_cast<int>(i) + 2], ElementOf(n.In(0), i + (first ? 2 : 1)),
                       (filter[i] - 1) * dilations[i] + 1, strides[i], n.Text("padding"), {0, 0}));
    begins.push_back(crop.begin);
    ends.push_back(crop.end);
    added.push_back(crop.added);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  Value* w = n.Reshape(n.Transpose(n.In(1), {2, 3, 0, 1}), {filter[2] * filter[3], 1, filter[0], filter[1]});
  WindowOutput(n, 0,
               n.Op("ConvTranspose", {x, w},
                    {{"strides", strides},
                     {"dilations", dilations},
                     {"pads", begins},
                     {"output_padding", added},
                     {"group", filter[2]}}),
               first);
  return {};
}

}  // namespace

TERN_CONVERTERS(conv) {
  table.Add("Conv2D", [](TfNode& n) { return Conv(n, 4); });
  table.Add("Conv3D", [](TfNode& n) { return Conv(n, 5); });
  table.Add("DepthwiseConv2dNative", DepthwiseConv);
  table.Add("Conv2DBackpropInput", [](TfNode& n) { return ConvTranspose(n, 4); });
  for (const char* op : {"Conv3DBackpropInputV2"})
    table.Add(op, [](TfNode& n) { return ConvTranspose(n, 5); });
  table.Add("DepthwiseConv2dNativeBackpropInput", DepthwiseTranspose);
}

}  // namespace tern::tensorflow
