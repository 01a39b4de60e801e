// What the convolutions share: attributes, checks of x [N, C, spatial…] against w, and the walk of their
// reference evaluators.
#pragma once
#include <algorithm>

#include "ir/op_answers.h"
#include "ops/support/spread.h"
#include "ops/support/window.h"

namespace tern {

struct ConvAttrs {
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
  AutoPad auto_pad = AutoPad::kNone;

 protected:
  template <class V> void VisitWindow(V& v, const char* what_pads_mean) {
    v("strides", strides, "one per spatial axis; empty: 1");
    v("pads", pads, what_pads_mean);
    v("dilations", dilations, "one per spatial axis; empty: 1");
  }
  template <class V> void VisitGroup(V& v) {
    v("group", group, "channels are convolved in this many separate groups");
    v.Enum("auto_pad", auto_pad, kAutoPadNames, "how pads follow from sizes; `none`: as given");
  }
};

// Ranks, and that `group` divides w's first dim, its output or input channels.
Status CheckConvShapes(int64_t group, const Shape& x, const Shape& w, const char* channels);
// x's channels against those that w [M, C/group, kernel…] has.
Status CheckGroupChannels(int64_t group, const Shape& x, const Shape& w);

// Spatial sizes of one channel.
struct Plane {
  Plane(const Dims& dx, const Dims& dw, const Dims& dy);
  Dims input, kernel, output;
  int64_t input_size, kernel_size, output_size;
};

// The rows of a kernel's taps and places: along the last axis, place i of row `row` meets the element
// `start` + i * stride of the other side, for i in `range`; other places see padding.
struct TapRow {
  int64_t tap, row, start;
  TapRange range;
};
// Every row of each tap in turn: the window's positions are `places`, and what it slides over is `over`. No
// dim is 0.
template <class F>
void ForEachTapRow(const Window& window, const Dims& kernel, const Dims& places, const Dims& over, F&& each) {
  const int outer = static_cast<int>(over.size()) - 1;
  const auto last = static_cast<size_t>(outer);
  const WindowAxis& along = window.axes[last];
  Dims tap(over.size(), 0), place(over.size(), 0);
  TapRow at{0, 0, 0, {}};
  do {
    const int64_t reach = tap[last] * along.dilation;
    at.range = ValidOutputs(along, reach, over[last], places[last]);
    std::fill(place.begin(), place.end(), 0);
    at.row = 0;
    do {
      int64_t start = 0;
      bool inside = true;
      for (size_t i = 0; i < last; ++i) {
        const WindowAxis& a = window.axes[i];
        const int64_t index = place[i] * a.stride + tap[i] * a.dilation - a.begin;
        inside = inside && index >= 0 && index < over[i];
        start = start * over[i] + index;
      }
      at.start = start * over[last] + reach - along.begin;
      if (inside) each(at);
      ++at.row;
    } while (NextIndex(place, places, outer));
    ++at.tap;
  } while (NextIndex(tap, kernel, outer + 1));
}

// y [N, M, plane]: each channel's element of `bias` to all of its elements.
template <class T> void AddBias(std::vector<T>& y, const std::vector<T>& bias, int64_t plane) {
  for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i / static_cast<size_t>(plane) % bias.size()];
}

// For OpDef::macs: each output element sums over one filter of the input `weights` [M, C/group, kernel…].
std::function<CountRule> ConvMacs(int weights);
// For OpDef::typical_dim: one image; with filters of one tap it has 32 by 32 pixels. No size stands for all
// with larger filters: what is the best for small images is not for large ones.
int64_t TypicalImage(const StaticNode& node, size_t input, size_t axis);

}  // namespace tern
