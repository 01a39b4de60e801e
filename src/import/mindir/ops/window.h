// Reads the arguments of convolutions and poolings.
#pragma once
#include "import/mindir/converter.h"

namespace tern::mindir {

// Returns whether the format is NHWC or NDHWC. `index` is the input with the format, or kAttribute.
bool IsChannelsLast(MindNode& n, int index);

// Returns the numbers of the spatial axes. `numbers` has one number for all, one per spatial axis, or one per
// axis. With one number per axis, `channels_last` says whether the axes are [N, spatial…, C] or [N, C,
// spatial…].
std::vector<int64_t> SpatialPart(const std::vector<int64_t>& numbers, int spatial, bool channels_last);

// The inputs that contain the arguments, or kAttribute.
struct WindowInputs {
  int strides, pad_mode, pads;
};
// Returns the attributes strides, pads and auto_pad. `channels_last` has the same meaning as in SpatialPart.
Result<AttrList> WindowAttrs(MindNode& n, const WindowInputs& inputs, int spatial, bool channels_last);

}  // namespace tern::mindir
