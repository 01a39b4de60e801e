// Convolutions.
#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

struct ConvWindow {
  std::vector<int64_t> stride, padding, dilation, output_padding;
};

// A list of one number applies to all spatial axes.
std::vector<int64_t> Spread(std::vector<int64_t> values, size_t count, int64_t otherwise) {
  if (values.empty()) values.push_back(otherwise);
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

std::vector<int64_t> BothEnds(const std::vector<int64_t>& padding) {
  std::vector<int64_t> pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

// Returns the pads of padding="same", with which the result has the size of the input. If the total is odd,
// the end gets one more.
Result<std::vector<int64_t>> SamePads(AtenNode& n, const tern::Shape& weight,
                                      const std::vector<int64_t>& dilation) {
  std::vector<int64_t> first, last;
  for (int i = 2; i < weight.rank(); ++i) {
    const auto axis = static_cast<size_t>(i - 2);
    if (!weight[i].known()) return n.NotYet("a kernel of unknown size");
    int64_t total = 0;
    if (axis >= dilation.size() || __builtin_mul_overflow(dilation[axis], weight[i].value() - 1, &total))
      return n.Bad("the dilation [", Join(dilation, ","), "] of a weight ", weight.ToString());
    first.push_back(total / 2);
    last.push_back(total - total / 2);
  }
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

Status Convolve(AtenNode& n, bool transposed) {
  Emit e(n.b);
  Value *x = n.In("input"), *w = n.In("weight"), *bias = n.In("bias");
  const tern::Shape& weight = w->type.shape;
  if (weight.rank() < 3) return n.NotYet("a weight ", w->type.ToString());
  const auto axes = static_cast<size_t>(weight.rank() - 2);
  ConvWindow win{Spread(n.Ints("stride"), axes, 1), {}, Spread(n.Ints("dilation"), axes, 1), {}};
  std::vector<int64_t> pads;
  if (n.Get("padding").kind == Arg::Kind::kString) {
    const std::string mode = n.Text("padding");
    if (mode == "same") {
      TERN_ASSIGN(pads, SamePads(n, weight, win.dilation));
    } else if (mode != "valid") {
      return n.Bad("padding '", mode, "'");
    }
  } else {
    pads = BothEnds(Spread(n.Ints("padding"), axes, 0));
  }
  AttrList attrs = {
      {"strides", win.stride}, {"pads", pads}, {"dilations", win.dilation}, {"group", n.Int("groups", 1)}};
  if (transposed) attrs.emplace_back("output_padding", Spread(n.Ints("output_padding"), axes, 0));
  const bool unbatched = x->type.shape.rank() == weight.rank() - 1;
  if (unbatched) x = e.Unsqueeze(x, {0});
  Value* y = n.b.Op(transposed ? "ConvTranspose" : "Conv", {x, w, bias}, attrs);
  n.Out(unbatched ? e.Squeeze(y, {0}) : y);
  return {};
}

Status Either(AtenNode& n) { return Convolve(n, n.Bool("transposed")); }

}  // namespace

TERN_CONVERTERS(conv) {
  for (const char* op : {"aten::conv1d", "aten::conv2d", "aten::conv3d"})
    table.Add(op, [](AtenNode& n) { return Convolve(n, false); });
  for (const char* op : {"aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"})
    table.Add(op, [](AtenNode& n) { return Convolve(n, true); });
  table.Add("aten::convolution", Either);
  table.Add("aten::_convolution", Either);
}

}  // namespace tern::torch
