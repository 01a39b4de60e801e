// Golden requests: requests with the outputs that every version of a model must give.
#pragma once
#include <map>

#include "server/core/model_config.h"
#include "server/repository/compare_tensors.h"

namespace tern::server {

// The content of a file golden/*.json:
//   {"request": {"inputs": […]}, "response": {"outputs": […]},
//    "tolerance": {"absolute": 1e-5, "relative": 1e-4, "outputs": {"y": {"absolute": 0.1}}}}
// "request" and "response" are those of the v2 protocol over HTTP, with JSON tensors. "tolerance" and its
// members are optional; "description" is ignored. A tolerance in "outputs" replaces the general one for its
// output. Its missing members are 0. It applies to integers, too.
struct GoldenRequest {
  Request request;
  std::vector<WireTensor> outputs;  // at least one
  Tolerance tolerance;
  std::map<std::string, Tolerance> of_output;
};

Result<GoldenRequest> ParseGolden(std::string_view text, const ModelConfig& config);

}  // namespace tern::server
