// Opens samples for the commands, whose files may have every format of --input.
#pragma once
#include "quantize/samples.h"

namespace tern::tools {

// The same as quantize::OpenSamples.
Result<std::unique_ptr<compress::Samples>> OpenSamples(const std::string& path, const Graph& graph,
                                                       const data::ImageOptions& pictures, int64_t limit = 0);
// The same as quantize::PreprocessOf, for the option --preprocess.
Result<data::ImageOptions> PreprocessOf(const std::string& name);

}  // namespace tern::tools
