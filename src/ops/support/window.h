// A window that slides over the spatial axes of [N, C, spatial…], for convolution and pooling.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/dim.h"
#include "core/type.h"

namespace tern {

class Node;

enum class AutoPad : uint8_t { kNone, kSameUpper, kSameLower, kValid };
inline const std::vector<const char*> kAutoPadNames = {"none", "same_upper", "same_lower", "valid"};

struct WindowAxis {
  int64_t stride = 1, dilation = 1;
  int64_t begin = 0, end = 0;  // padding; a negative number crops
};

struct Window {
  std::vector<WindowAxis> axes;
  AutoPad auto_pad = AutoPad::kNone;
  bool ceil_mode = false;  // the last window may extend beyond the padded input
};

// Checks the lists and returns the window. An empty list means the default, which is 1 for strides and
// dilations and 0 for pads.
Result<Window> MakeWindow(int rank, const std::vector<int64_t>& strides, const std::vector<int64_t>& pads,
                          const std::vector<int64_t>& dilations, AutoPad auto_pad, bool ceil_mode = false);
// Returns the number of elements from the first one that a window reads to the last one. A kernel of 3 with
// dilation 2 spans 5 elements.
Dim Extent(const WindowAxis& axis, const Dim& kernel);
// Returns the number of windows along the axis. Fails if the padded input is known to be smaller than one
// window. With ceil_mode, it may be smaller by up to stride - 1 elements.
Result<Dim> Positions(const Window& window, int axis, const Dim& input, const Dim& kernel);
// Returns the window with the pads that auto_pad implies for these sizes.
Window ResolvePads(Window window, const Dims& input, const Dims& kernel);
// Fails if a known kernel size is outside [1, 2^31).
Status CheckKernel(const std::vector<Dim>& kernel);

// ValidOutputs returns the range of output positions along one axis for which a tap reads an element inside
// the input. The range is `first` to `last` - 1. `tap` is the index of the tap times the dilation.
struct TapRange {
  int64_t first, last;
};
TapRange ValidOutputs(const WindowAxis& axis, int64_t tap, int64_t input, int64_t output);

// Advances the first `rank` entries of `index` to the next index of a tensor with dims `dims`, in row-major
// order. After the last index, resets the entries to 0 and returns false.
bool NextIndex(std::vector<int64_t>& index, const Dims& dims, int rank);

// For OpDef::flops of an op with the attribute `kernel`. Counts one FLOP for each tap of each window.
std::optional<double> WindowFlops(const Node& node);

}  // namespace tern
