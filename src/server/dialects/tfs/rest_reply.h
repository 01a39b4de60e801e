// Makes the bodies of responses in JSON.
#pragma once
#include <string>

#include "server/dialects/tfs/rest_request.h"
#include "server/dialects/tfs/results.h"

namespace tern::server::tfs {

// Appends {"predictions": …} or {"outputs": …}. Texts of outputs whose name ends in "_bytes", and texts that
// are not UTF-8, are objects {"b64": "…"}. Fails with kInvalidArgument if there is no output, or if an output
// of the row layout has no dims or another number of items than the others.
Status AppendPrediction(std::string& out, const std::vector<WireTensor>& outputs, Layout layout);
// These functions append {"results": …}.
void AppendClasses(std::string& out, const std::vector<std::vector<ClassScore>>& results);
void AppendRegressions(std::string& out, const std::vector<float>& results);

}  // namespace tern::server::tfs
