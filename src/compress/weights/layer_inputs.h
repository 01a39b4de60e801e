// Runs a float model on calibration data and collects the second moments of layers' inputs.
#pragma once
#include <map>

#include "compress/quantize/observe.h"
#include "compress/weights/hessian.h"

namespace tern::compress {

using MomentsByValue = std::map<const Value*, Hessian>;

// Returns the moments of `values`, which must be f32 values of the top-level graph with a known last dim. A
// value that is listed twice is counted once. Fails if a sample does not fit the graph's inputs, or if a
// value is not finite; the message names the sample.
Result<MomentsByValue> SecondMoments(const Graph& graph, const std::vector<const Value*>& values,
                                     Samples& samples, int threads, const ShowProgress& show = {});

}  // namespace tern::compress
