// Computes the shapes of sliding windows (Conv, ConvTranspose, Pool) from attributes.
#pragma once
#include <algorithm>

#include "kernel_api/kernel_table.h"
#include "kernels/cpu/conv/conv.h"
#include "ops/support/window.h"

namespace tern {

// Returns whether there are one to three spatial axes.
inline bool HasSupportedSpatialAxes(const KernelQuery& q) { return q.InRank(0) >= 3 && q.InRank(0) <= 5; }

inline AutoPad AutoPadOf(const Attrs& attrs) {
  const std::string text = attrs.Text("auto_pad");
  const auto at = std::find(kAutoPadNames.begin(), kAutoPadNames.end(), text);
  return static_cast<AutoPad>(at - kAutoPadNames.begin());
}

// Returns the values of one to three spatial axes, right-aligned, with leading ones: [3,5] becomes {1,3,5}.
inline cpu::Spatial SpatialOf(const Dims& list) {
  cpu::Spatial out{1, 1, 1};
  for (size_t i = 0; i < list.size(); ++i) out[3 - list.size() + i] = list[i];
  return out;
}

// Returns whether x, y and the residual are [N, spatial…, C] instead of [N, C, spatial…].
inline bool IsChannelsLast(const KernelQuery& q) {
  return q.attrs().Has("channels_last") && q.attrs().Bool("channels_last");
}

// Computes the window and the spatial sizes. The caller sets batch, channels, maps and group.
inline Result<cpu::ConvShape> WindowShape(const KernelQuery& q, const Dims& kernel, Window& window) {
  const Dims &x = q.InDims(0), &y = q.OutDims(0);
  const int last = IsChannelsLast(q);
  const Dims input(x.begin() + 2 - last, x.end() - last), output(y.begin() + 2 - last, y.end() - last);
  const Attrs& a = q.attrs();
  const bool ceil = a.Has("ceil_mode") && a.Bool("ceil_mode");
  TERN_ASSIGN(window, MakeWindow(static_cast<int>(input.size()), a.Ints("strides"), a.Ints("pads"),
                                 a.Ints("dilations"), AutoPadOf(a), ceil));
  window = ResolvePads(std::move(window), input, kernel);
  cpu::ConvShape s;
  s.input = SpatialOf(input), s.kernel = SpatialOf(kernel), s.output = SpatialOf(output);
  for (size_t i = 0; i < window.axes.size(); ++i) {
    const size_t to = 3 - window.axes.size() + i;
    s.stride[to] = window.axes[i].stride, s.dilation[to] = window.axes[i].dilation,
    s.begin[to] = window.axes[i].begin;
  }
  return s;
}

// Returns how many elements a transposed convolution crops at the front of each axis. If the node has an
// output_shape, or auto_pad is same_upper or same_lower, the crop is half of the elements that exceed the
// output size. Otherwise the crop is the value of pads, or 0 if auto_pad is valid.
inline cpu::Spatial CropOf(const Attrs& a, const cpu::ConvShape& s, int rank) {
  const AutoPad mode = AutoPadOf(a);
  const bool same = mode == AutoPad::kSameUpper || mode == AutoPad::kSameLower;
  const auto pads = a.Ints("pads"), padding = a.Ints("output_padding");
  cpu::Spatial crop{0, 0, 0};
  for (int i = 0; i < rank; ++i) {
    const auto from = static_cast<size_t>(i), to = static_cast<size_t>(3 - rank + i);
    if (!same && a.Ints("output_shape").empty()) {
      crop[to] = pads.empty() || mode != AutoPad::kNone ? 0 : pads[from];
      continue;
    }
    const int64_t full = (s.input[to] - 1) * s.stride[to] + (padding.empty() ? 0 : padding[from]) +
                         s.dilation[to] * (s.kernel[to] - 1) + 1;
    const int64_t total = std::max<int64_t>(0, full - s.output[to]);
    crop[to] = mode == AutoPad::kSameUpper ? total / 2 : total - total / 2;
  }
  return crop;
}

}  // namespace tern
