// Removes taps of a Conv that read only padding. Networks for segmentation have dilations that are larger
// than their images, so that only the taps in the middle of the kernel read pixels.
#include <algorithm>

#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// One spatial axis of a Conv.
struct Axis {
  int64_t input, output, kernel, stride = 1, dilation = 1, before = 0, after = 0;
  int64_t first = 0, last = 0;  // the taps [first, last) read pixels

  // Sets the range of taps. Tap t reads the elements o * stride + t * dilation - before, for all output
  // positions o.
  void FindTaps() {
    const auto taps_below = [&](int64_t reach) {  // taps t with t * dilation < reach
      return reach <= 0 ? 0 : std::min(kernel, (reach - 1) / dilation + 1);
    };
    first = taps_below(before - (output - 1) * stride);
    last = std::max(first, taps_below(input + before));
  }
};

std::optional<std::vector<Axis>> AxesOf(Rewrite& r, const Node& conv) {
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return std::nullopt;
  };
  if (conv.attrs.Text("auto_pad") != "none" || AllAre(conv.attrs.Ints("pads"), 0))
    return no("the Conv has no pads");
  const Shape &x = conv.input(0)->type.shape, &y = conv.output(0)->type.shape;
  const Dims& w = conv.input(1)->constant.dims();
  const auto strides = conv.attrs.Ints("strides"), dilations = conv.attrs.Ints("dilations"),
             pads = conv.attrs.Ints("pads");
  std::vector<Axis> axes;
  for (size_t i = 0; i + 2 < w.size(); ++i) {
    const int at = static_cast<int>(i) + 2;
    if (!x.ranked || !y.ranked || !x[at].known() || !y[at].known())
      return no("the size of the image is not known");
    Axis axis{x[at].value(), y[at].value(), w[i + 2]};
    if (!strides.empty()) axis.stride = strides[i];
    if (!dilations.empty()) axis.dilation = dilations[i];
    axis.before = pads[i], axis.after = pads[i + w.size() - 2];
    axis.FindTaps();
    axes.push_back(axis);
  }
  return axes;
}

bool RemoveTaps(Rewrite& r) {
  Node& conv = r.root();
  Value* w = conv.input(1);
  if (!w->is_constant()) return r.Skip("the weights '", w->name, "' are not constant");
  if (CountOf(w->constant.dims()) == 0) return r.Skip("the weights are empty");
  const auto axes = AxesOf(r, conv);
  if (!axes) return false;
  std::vector<int64_t> starts, ends, over, before, after;
  bool fewer = false;
  for (size_t i = 0; i < axes->size(); ++i) {
    const Axis& axis = (*axes)[i];
    if (axis.first == axis.last) return r.Skip("all taps read padding");
    fewer |= axis.last - axis.first < axis.kernel;
    starts.push_back(axis.first), ends.push_back(axis.last), over.push_back(static_cast<int64_t>(i) + 2);
    before.push_back(axis.before - axis.first * axis.dilation);
    after.push_back(axis.after - (axis.kernel - axis.last) * axis.dilation);
    if (before.back() < 0 || after.back() < 0) return r.Skip("the pads would crop");
  }
  if (!fewer) return r.Skip("every tap reads pixels");
  before.insert(before.end(), after.begin(), after.end());
  Value* taps = r.Op("Slice", {w, r.Ints(starts), r.Ints(ends), r.Ints(over)});
  return r.Replace(r.Op(*conv.op, WithAttrs(conv.attrs, {{"pads", before}}),
                        {conv.input(0), taps, conv.input(2), conv.input(3)}));
}

}  // namespace

TERN_RULE(RemovePaddingTaps) {
  return Rule{.summary = "taps of a Conv that read only padding, because of a large dilation, are removed",
              .roots = {"Conv"},
              .apply = RemoveTaps,
              .example = R"(graph @g(%x: f32[N,1,4]) -> (%y) {
  #w: f32[1,1,3] = (1, 2, 3)
  %y = Conv(%x, #w) {dilations=[4], pads=[4,4]}
})"};
}

}  // namespace tern
