// Opens samples for the commands. The files may have any format that --input reads.
#pragma once
#include "quantize/samples.h"

namespace tern::tools {

// Like quantize::OpenSamples, for every format that --input reads.
Result<std::unique_ptr<compress::Samples>> OpenSamples(const std::string& path, const Graph& graph,
                                                       const data::ImageOptions& pictures, int64_t limit = 0);
// The same as quantize::PreprocessOf, for the option --preprocess.
Result<data::ImageOptions> PreprocessOf(const std::string& name);

}  // namespace tern::tools
