// Converts convolutions. Weights are [M, C/group, kernel…] in the format NCHW, and [M, kernel…, C/group] in
// NHWC.
#include <algorithm>

#include "import/mindir/ops/emit.h"
#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

constexpr WindowInputs kAttributes = {MindNode::kAttribute, MindNode::kAttribute, MindNode::kAttribute};

Status Conv(MindNode& n, int spatial) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, spatial + 2, spatial + 2));
  TERN_TRY(RequireRank(n, 1, spatial + 2, spatial + 2));
  if (n.Int(n.kAttribute, {"mode"}, 1) != 1) return n.NotYet("mode ", n.Int(n.kAttribute, {"mode"}));
  Emit e(n);
  const bool last = IsChannelsLast(n, n.kAttribute);
  Value* w = last ? e.ChannelsFirst(n.In(1)) : n.In(1);
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, kAttributes, spatial, last));
  attrs.emplace_back("dilations",
                     SpatialPart(n.Ints(n.kAttribute, {"dilation", "dilations"}, {1}), spatial, last));
  attrs.emplace_back("group", n.Int(n.kAttribute, {"group", "groups"}, 1));
  Value* x = last ? e.ChannelsFirst(n.In(0)) : n.In(0);
  Value* y = n.b.Op("Conv", {x, w}, attrs);
  n.Out(last ? e.ChannelsLast(y) : y);
  return {};
}

// Converts DepthwiseConv2dNative. Its weights are [multiplier, C, kernel…].
Status Depthwise(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, 4, 4));
  TERN_TRY(RequireRank(n, 1, 4, 4));
  Emit e(n);
  const Shape& s = n.In(1)->type.shape;
  if (!s.fully_known() || s[0].value() != 1) return n.NotYet("a channel multiplier other than 1");
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, kAttributes, 2, false));
  attrs.emplace_back("dilations", SpatialPart(n.Ints(n.kAttribute, {"dilation"}, {1}), 2, false));
  attrs.emplace_back("group", s[1].value());
  n.Out(n.b.Op("Conv", {n.In(0), e.Transpose(n.In(1), {1, 0, 2, 3})}, attrs));
  return {};
}

constexpr int64_t kMaxNumber = 1000000000;

struct Axis {
  int64_t stride = 1, extent = 1, before = 0, after = 0, more = 0;  // `more` is output_padding
};

// Sets what is cropped from the full result, (input - 1) * stride + extent, of one axis. `size` and `wanted`
// are the sizes of the axis in the input and in the result, if they are known.
Status CropAxis(MindNode& n, const std::string& mode, const Dim& size, std::optional<int64_t> wanted,
                Axis& axis) {
  int64_t total = mode == "same" ? axis.extent - axis.stride : axis.before + axis.after;
  if (size.known() && wanted) total = (size.value() - 1) * axis.stride + axis.extent - *wanted;
  if (mode == "same") axis.before = std::max<int64_t>(total, 0) / 2;
  axis.after = total - axis.before;
  if (axis.after < 0) {
    axis.more = -axis.after;
    axis.after = 0;
  }
  if (axis.more > 1000000)
    return n.Bad("the size of the result, ", wanted.value_or(-1), ", does not fit the input");
  return {};
}

// Inputs of Conv2DTranspose and Conv2DBackpropInput: x, weights [C, M/group, kernel…], shape of the result.
Status ConvTranspose(MindNode& n, int spatial) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 0, spatial + 2, spatial + 2));
  TERN_TRY(RequireRank(n, 1, spatial + 2, spatial + 2));
  if (IsChannelsLast(n, n.kAttribute)) return n.NotYet("format NHWC");
  const std::string mode = n.Text(n.kAttribute, {"pad_mode"}, "valid", {"pad", "same", "valid"});
  const auto strides = SpatialPart(n.Ints(n.kAttribute, {"stride", "strides"}, {1}), spatial, false);
  const auto dilations = SpatialPart(n.Ints(n.kAttribute, {"dilation", "dilations"}, {1}), spatial, false);
  auto pads = n.Ints(n.kAttribute, {"pad", "pad_list"}, {0});
  const auto count = static_cast<size_t>(spatial);
  if (pads.size() == 1) pads.assign(2 * count, pads[0]);
  if (strides.size() != count || dilations.size() != count || pads.size() != 2 * count)
    return n.Bad("stride, dilation or pad has a wrong number of entries");
  const auto result = n.Has(2) ? LongsOf(n.inputs()[2]) : std::nullopt;
  std::vector<int64_t> before, after, more;
  for (size_t i = 0; i < count; ++i) {
    const Dim kernel = n.In(1)->type.shape[static_cast<int>(i) + 2],
              size = n.In(0)->type.shape[static_cast<int>(i) + 2];
    if (!kernel.known()) return n.NotYet("weights of unknown shape");
    for (const int64_t number : {strides[i], dilations[i], pads[2 * i], pads[2 * i + 1], kernel.value(),
                                 size.known() ? size.value() : 0})
      if (number < 0 || number > kMaxNumber) return n.Bad("stride, dilation, pad or size ", number);
    Axis axis{strides[i], (kernel.value() - 1) * dilations[i] + 1};
    if (mode == "pad") {
      axis.before = pads[2 * i];
      axis.after = pads[2 * i + 1];
    }
    const bool known = result && result->size() == count + 2 && (*result)[i + 2] > 0;
    TERN_TRY(CropAxis(n, mode, size, known ? std::optional((*result)[i + 2]) : std::nullopt, axis));
    before.push_back(axis.before);
    after.push_back(axis.after);
    more.push_back(axis.more);
  }
  before.insert(before.end(), after.begin(), after.end());
  n.Out(n.b.Op("ConvTranspose", {n.In(0), n.In(1)},
               {{"strides", strides},
                {"dilations", dilations},
                {"pads", before},
                {"output_padding", more},
                {"group", n.Int(n.kAttribute, {"group", "groups"}, 1)}}));
  return {};
}

// The input indices of the arguments that follow x, weight and bias in the convolutions of mindspore.mint. -1
// means that there is no such argument. If `transposed` is 0, the convolution is always transposed.
struct ExtInputs {
  int stride, padding, dilation, groups, transposed, output_padding;
};

Status ConvExt(MindNode& n, const ExtInputs& at) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_TRY(RequireRank(n, 1, 3, 5));
  const int spatial = n.RankOf(1) - 2;
  TERN_TRY(RequireRank(n, 0, spatial + 1, spatial + 2));
  Emit e(n);
  const auto part = [&](int i, Names names, int64_t standard) {
    return i < 0 ? SpatialPart({standard}, spatial, false)
                 : SpatialPart(n.Ints(i, names, {standard}), spatial, false);
  };
  AttrList attrs = {{"strides", part(at.stride, {"stride"}, 1)},
                    {"dilations", part(at.dilation, {"dilation"}, 1)},
                    {"group", n.Int(at.groups, {"groups"}, 1)}};
  const bool enumerated = n.op() == "ConvolutionStr" || n.op() == "Conv1DPadding" ||
                          n.op() == "Conv2DPadding" || n.op() == "Conv3DPadding";
  const bool transposed = at.transposed == 0 || (at.transposed > 0 && n.Bool(at.transposed, {}));
  if (enumerated) {
    const std::string mode = n.Text(at.padding, {"padding"}, "valid", {"pad", "same", "valid"});
    attrs.emplace_back("auto_pad", mode == "same" ? "same_upper" : "valid");
  } else {
    const auto pads = part(at.padding, {"padding"}, 0);
    std::vector<int64_t> both = pads;
    both.insert(both.end(), pads.begin(), pads.end());
    attrs.emplace_back("pads", both);
  }
  if (transposed) attrs.emplace_back("output_padding", part(at.output_padding, {"output_padding"}, 0));
  const bool single = n.RankOf(0) == spatial + 1;
  Value* x = single ? e.Unsqueeze(n.In(0), {0}) : n.In(0);
  Value* y = n.b.Op(transposed ? "ConvTranspose" : "Conv", {x, n.In(1), n.In(2)}, attrs);
  n.Out(single ? e.Squeeze(y, {0}) : y);
  return {};
}

}  // namespace

TERN_CONVERTERS(conv) {
  table.Add("Conv2D", [](MindNode& n) { return Conv(n, 2); });
  table.Add("Conv3D", [](MindNode& n) { return Conv(n, 3); });
  table.Add("DepthwiseConv2dNative", Depthwise);
  for (const char* name : {"Conv2DTranspose", "Conv2DBackpropInput"})
    table.Add(name, [](MindNode& n) { return ConvTranspose(n, 2); });
  table.Add("Conv3DTranspose", [](MindNode& n) { return ConvTranspose(n, 3); });
  for (const char* name :
       {"Conv1DExt", "Conv2DExt", "Conv3DExt", "Conv1DPadding", "Conv2DPadding", "Conv3DPadding"})
    table.Add(name, [](MindNode& n) { return ConvExt(n, {3, 4, 5, 6, -1, -1}); });
  for (const char* name : {"Convolution", "ConvolutionStr"})
    table.Add(name, [](MindNode& n) { return ConvExt(n, {3, 4, 5, 8, 6, 7}); });
  // Inputs: x, weight, bias, stride, padding, output_padding, groups, dilation.
  table.Add("ConvTranspose2D", [](MindNode& n) { return ConvExt(n, {3, 4, 7, 6, 0, 5}); });
}

}  // namespace tern::mindir
