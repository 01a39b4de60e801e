// The windows of convolutions and pooling.
#pragma once
#include <vector>

#include "import/tensorflow/converter.h"

namespace tern::tensorflow {

// Returns true if the attribute data_format says that channels are axis 1, and false if they are the last
// axis. Fails for other formats.
Result<bool> IsChannelsFirst(TfNode& n);
// `list` has one entry per axis. Returns the entries of the spatial axes. Fails if the entry of the batch or
// the channels is not 1, or if a spatial entry is not positive. `what` names the list in errors.
Result<std::vector<int64_t>> Spatial(TfNode& n, const std::vector<int64_t>& list, bool channels_first,
                                     const char* what);
// Returns the attributes strides, dilations, pads and auto_pad of a Tern op. x is [N, C, spatial…]. `kernel`
// are the spatial sizes of the window.
Result<AttrList> WindowAttrs(TfNode& n, const Value* x, const std::vector<int64_t>& kernel,
                             bool channels_first, const std::vector<int64_t>& strides,
                             const std::vector<int64_t>& dilations);
// Reads input i as [N, C, spatial…] and sets an output from that layout.
Value* WindowInput(TfNode& n, int i, bool channels_first);
void WindowOutput(TfNode& n, int i, Value* y, bool channels_first);

}  // namespace tern::tensorflow
