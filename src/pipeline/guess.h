// Guesses the pipeline of a model from its inputs and outputs.
#pragma once
#include <string>

#include "ir/graph.h"

namespace tern::pipeline {

// Returns the text of a pipeline.yaml. Comments state what was guessed. `model` is the path of the model.
// Files of labels and tokenizers are searched in its folder. Fails with the reasons if no kind fits. The text
// is checked against the graph, so Bind accepts it.
Result<std::string> GuessPipeline(const Graph& graph, const std::string& model);

}  // namespace tern::pipeline
