#include "ops/support/window.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/op_cost.h"

namespace tern {
namespace {

constexpr int64_t kLimit = int64_t{1} << 31;  // the product of two numbers below this limit fits into 64 bits

Status CheckList(const char* name, const std::vector<int64_t>& list, int wanted, int64_t least) {
  if (list.empty()) return {};
  if (static_cast<int>(list.size()) != wanted)
    return InvalidModel(name, " has ", list.size(), " numbers, but needs ", wanted);
  for (int64_t v : list)
    if (v < least || v >= kLimit)
      return InvalidModel(name, " [", Join(list, ", "), "]: ", v, " is outside [", least, ", 2^31)");
  return {};
}

int64_t FloorDivInt(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

Result<Window> MakeWindow(int rank, const std::vector<int64_t>& strides, const std::vector<int64_t>& pads,
                          const std::vector<int64_t>& dilations, AutoPad auto_pad, bool ceil_mode) {
  TERN_TRY(CheckList("strides", strides, rank, 1));
  TERN_TRY(CheckList("dilations", dilations, rank, 1));
  TERN_TRY(CheckList("pads", pads, 2 * rank, -kLimit));
  Window window{std::vector<WindowAxis>(static_cast<size_t>(rank)), auto_pad, ceil_mode};
  for (size_t i = 0; i < window.axes.size(); ++i) {
    WindowAxis& axis = window.axes[i];
    if (!strides.empty()) axis.stride = strides[i];
    if (!dilations.empty()) axis.dilation = dilations[i];
    if (pads.empty() || auto_pad != AutoPad::kNone) continue;
    axis.begin = pads[i];
    axis.end = pads[i + window.axes.size()];
  }
  return window;
}

Dim Extent(const WindowAxis& axis, const Dim& kernel) { return Dim(axis.dilation) * (kernel - 1) + 1; }

Status CheckKernel(const std::vector<Dim>& kernel) {
  for (size_t i = 0; i < kernel.size(); ++i)
    if (kernel[i].known() && (kernel[i].value() < 1 || kernel[i].value() >= kLimit))
      return InvalidModel("kernel size ", kernel[i].value(), " on spatial axis ", i, " is outside [1, 2^31)");
  return {};
}

Result<Dim> Positions(const Window& window, int axis, const Dim& input, const Dim& kernel) {
  const WindowAxis& a = window.axes[static_cast<size_t>(axis)];
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower)
    return CeilDiv(input, a.stride);
  const Dim slack = input + (a.begin + a.end) - Extent(a, kernel);
  // If the window has one element and the input is empty, the output is empty.
  if (input.Is(0) && Extent(a, kernel).Is(1) && a.begin + a.end == 0) return Dim(0);
  // With ceil_mode, a window may extend beyond the padded input by up to stride - 1 elements.
  const int64_t least = window.ceil_mode ? 1 - a.stride : 0;
  if (slack.known() && slack.value() < least)
    return InvalidModel("spatial axis ", axis, ": a window of ", Extent(a, kernel).ToString(), " (kernel ",
                        kernel.ToString(), ", dilation ", a.dilation, ") does not fit into ",
                        input.ToString(), " elements padded by ", a.begin, " and ", a.end);
  if (!window.ceil_mode) return FloorDiv(slack, a.stride) + 1;
  // Windows that would start in the padding after the input are dropped.
  return Min(CeilDiv(slack, a.stride) + 1, CeilDiv(input + a.begin, a.stride));
}

Window ResolvePads(Window window, const Dims& input, const Dims& kernel) {
  for (size_t i = 0; i < window.axes.size(); ++i) {
    WindowAxis& a = window.axes[i];
    if (window.auto_pad != AutoPad::kSameUpper && window.auto_pad != AutoPad::kSameLower) continue;
    const int64_t output = (input[i] + a.stride - 1) / a.stride;
    const int64_t total =
        std::max<int64_t>(0, (output - 1) * a.stride + a.dilation * (kernel[i] - 1) + 1 - input[i]);
    a.begin = window.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    a.end = total - a.begin;
  }
  window.auto_pad = AutoPad::kNone;
  return window;
}

TapRange ValidOutputs(const WindowAxis& axis, int64_t tap, int64_t input, int64_t output) {
  const int64_t shift = tap - axis.begin;  // input index = output * stride + shift
  const int64_t first = std::max<int64_t>(0, -FloorDivInt(shift, axis.stride));
  const int64_t last = std::min(output, FloorDivInt(input - 1 - shift, axis.stride) + 1);
  return {std::min(first, output), std::max(std::min(first, output), last)};
}

bool NextIndex(std::vector<int64_t>& index, const Dims& dims, int rank) {
  for (size_t i = static_cast<size_t>(rank); i-- > 0;) {
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
  }
  return false;
}

std::optional<double> WindowFlops(const Node& node) {
  double taps = 1;
  for (const int64_t k : node.attrs.Ints("kernel")) taps *= static_cast<double>(k);
  return Times(ElementsOf(node.output(0)), taps);
}

}  // namespace tern
