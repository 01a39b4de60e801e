// The results of classify and regress requests.
#pragma once
#include <string>
#include <vector>

#include "server/core/message.h"
#include "server/core/model_config.h"

namespace tern::server::tfs {

struct ClassScore {
  std::string label;  // may be empty
  float score = 0;
};

// The outputs that a classification needs: `classes` (texts) and `scores` (floats), of which one may be
// absent. A model without outputs of these names must have one output of floats; its labels are those of the
// configuration.
struct ClassOutputs {
  const TensorConfig* classes = nullptr;
  const TensorConfig* scores = nullptr;
};
Result<ClassOutputs> FindClassOutputs(const ModelConfig& config);
// The output `outputs`, or the only output of floats.
Result<const TensorConfig*> FindRegressOutput(const ModelConfig& config);

// Both fail with kInvalidArgument if an output has another type or shape than the request's `items` need.
Result<std::vector<std::vector<ClassScore>>> MakeClasses(const ModelConfig& config, const Response& response,
                                                         int64_t items);
Result<std::vector<float>> MakeRegressions(const ModelConfig& config, const Response& response,
                                           int64_t items);

}  // namespace tern::server::tfs
