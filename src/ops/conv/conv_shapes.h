// Code that the convolutions share: attributes, checks of x [N, C, spatial…] against w, and the loops of the
// reference evaluators.
#pragma once
#include <algorithm>

#include "ir/op_answers.h"
#include "ops/support/operands.h"
#include "ops/support/window.h"

namespace tern {

struct ConvAttrs {
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
  AutoPad auto_pad = AutoPad::kNone;

 protected:
  template <class V> void VisitWindow(V& v, const char* what_pads_mean) {
    v("strides", strides, "one per spatial axis; empty means 1");
    v("pads", pads, what_pads_mean);
    v("dilations", dilations, "one per spatial axis; empty means 1");
  }
  template <class V> void VisitGroup(V& v) {
    v("group", group, "number of channel groups; each group is convolved separately");
    v.Enum("auto_pad", auto_pad, kAutoPadNames,
           "how pads are computed from sizes; `none` means that the attribute pads is used");
  }
};

// Checks the ranks, and that `group` divides the first dim of w. `channels` names the channels that this dim
// counts, "output" or "input", for the message.
Status CheckConvShapes(int64_t group, const Shape& x, const Shape& w, const char* channels);
// Checks x's channels against w [M, C/group, kernel…].
Status CheckGroupChannels(int64_t group, const Shape& x, const Shape& w);

// The spatial sizes of one channel of x, w and y.
struct Plane {
  Plane(const Dims& dx, const Dims& dw, const Dims& dy);
  Dims input, kernel, output;
  int64_t input_size, kernel_size, output_size;
};

// A row is the window positions that differ only along the last axis. For one tap and one row, the tap at
// position i of the row reads element start + i * stride of the tensor that the window slides over. This
// holds if i is in `range`. At other positions the tap reads padding.
struct TapRow {
  int64_t tap, row, start;
  TapRange range;
};
// Calls f for every tap and every row of window positions, except rows in which the tap reads only padding.
// `positions` is the number of window positions along each axis. `over` has the dims of the tensor that the
// window slides over. No dim may be 0.
template <class F>
void ForEachTapRow(const Window& window, const Dims& kernel, const Dims& positions, const Dims& over, F&& f) {
  const int outer = static_cast<int>(over.size()) - 1;
  const auto last = static_cast<size_t>(outer);
  const WindowAxis& along = window.axes[last];
  Dims tap(over.size(), 0), position(over.size(), 0);
  TapRow at{0, 0, 0, {}};
  do {
    const int64_t reach = tap[last] * along.dilation;
    at.range = ValidOutputs(along, reach, over[last], positions[last]);
    std::fill(position.begin(), position.end(), 0);
    at.row = 0;
    do {
      int64_t start = 0;
      bool inside = true;
      for (size_t i = 0; i < last; ++i) {
        const WindowAxis& a = window.axes[i];
        const int64_t index = position[i] * a.stride + tap[i] * a.dilation - a.begin;
        inside = inside && index >= 0 && index < over[i];
        start = start * over[i] + index;
      }
      at.start = start * over[last] + reach - along.begin;
      if (inside) f(at);
      ++at.row;
    } while (NextIndex(position, positions, outer));
    ++at.tap;
  } while (NextIndex(tap, kernel, outer + 1));
}

// Adds bias[m] to channel m of y [N, M, plane].
template <class T> void AddBias(std::vector<T>& y, const std::vector<T>& bias, int64_t plane) {
  for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i / static_cast<size_t>(plane) % bias.size()];
}

// For OpDef::macs. Each output element needs one MAC per element of a filter. `weights` is the index of the
// input that contains the filters [M, C/group, kernel…].
std::function<CountRule> ConvMacs(int weights);
// For OpDef::typical_dim. The typical input is one image. If filters have one tap, its spatial sizes are 32.
// For larger filters, a spatial size has the result 0 (no typical size), because the best layout differs
// between small and large images. The number of channels follows from the weights.
int64_t TypicalImage(const StaticNode& node, size_t input, size_t axis);

}  // namespace tern
