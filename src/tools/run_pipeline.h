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
  // Returns whether a run uses a pipeline. The result is true if --pipeline or --text is given. It is also
  // true if the model has a pipeline.yaml, there are inputs and none of them is a tensor file, and neither
  // --no-pipeline nor an option for tensors such as --resize or --topk is given. Fails if --pipeline or
  // --text is combined with --no-pipeline, with an option for tensors, or with a tensor file, or if --text
  // finds no pipeline.
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
