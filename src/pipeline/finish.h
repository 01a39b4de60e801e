// Turns the model's outputs into results.
#pragma once
#include "pipeline/result.h"
#include "pipeline/rows.h"

namespace tern::pipeline {

// The outputs of all rows of one item, joined along the first axis. Each name is an output of the graph.
struct ItemOutputs {
  NamedTensors tensors;
  const Tensor* Find(const std::string& name) const;
};

// Makes the results of one output of the pipeline. Thread-safe.
class OutputMaker {
 public:
  virtual ~OutputMaker() = default;
  virtual Result<ItemResult> Make(const ItemOutputs& outputs, const ItemInfo& info) const = 0;
};
Result<std::shared_ptr<const OutputMaker>> MakeOutput(const Binding& binding, const BoundOutput& output);

}  // namespace tern::pipeline
