// Finds the model's inputs and outputs that a pipeline uses. If the pipeline does not name one, finds it by
// its type and by words in its name, such as "mask".
#pragma once
#include <set>

#include "pipeline/binding.h"

namespace tern::pipeline {

class TensorFinder {
 public:
  TensorFinder(const Spec& spec, const Graph& graph) : spec_(spec), graph_(graph) {}

  // Returns the model's input for pictures, strings or sound.
  Result<const Value*> Input(const InputSpec& input, BoundInput::Kind kind);
  // Sets the inputs for ids, mask and type ids.
  Status Tokens(const InputSpec& input, const TokenizeStep& step, BoundInput& out);
  Result<BoundOutput> Output(const OutputSpec& output);
  const std::set<std::string>& fed() const { return fed_; }

 private:
  Result<const Value*> InputNamed(int line, const std::string& name);
  Result<const Value*> OutputNamed(int line, const std::string& name);
  Result<const Value*> OutputFor(const OutputSpec& output);
  Status Boxes(const BoxesStep& step, BoundOutput& out);
  bool Free(const Value& input) const;

  const Spec& spec_;
  const Graph& graph_;
  std::set<std::string> fed_;  // inputs of the model that have a source
};

}  // namespace tern::pipeline
