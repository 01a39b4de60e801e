// The part of `tern run` that runs a model with its pipeline.yaml.
#pragma once
#include <string>
#include <vector>

#include "runtime/options.h"
#include "tools/args.h"

namespace tern::tools {

class PipelineRun {
 public:
  void Declare(Args& args);
  // Returns whether a run uses a pipeline. It does if the model has a pipeline.yaml, the inputs are pictures,
  // sounds or texts, and no option such as --resize or --topk describes tensors. Fails if such an option is
  // combined with --pipeline.
  Result<bool> Applies(const Args& args, const std::string& model, const std::vector<std::string>& inputs);
  // Runs all inputs as one batch and prints the results.
  Status Run(const std::string& model, const std::vector<std::string>& inputs, const SessionOptions& options,
             bool json) const;

 private:
  std::string file_;
  std::vector<std::string> texts_;
  bool off_ = false;
};

}  // namespace tern::tools
