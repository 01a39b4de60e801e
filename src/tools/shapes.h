// --shape NAME=1x3x224x224 and --dim N=8: what the user says about a model's open dims.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"
#include "tools/args.h"

namespace tern::tools {

class ShapeOptions {
 public:
  void Declare(Args& args);
  // Sets the inputs' dims, in all inputs that share a symbol, and infers the graph anew. Names that no input
  // has, and dims that contradict the model, are errors.
  Status Apply(Graph& graph) const;

 private:
  std::vector<std::string> shapes_, dims_;
};

// Sets every dim of the inputs that is still open to 1 and says so on stderr, once; then infers anew.
Status CloseOpenDims(Graph& graph);

// "1x3x224" to dims; "" and "scalar" are a scalar.
Result<Dims> ParseDims(const std::string& text);

// The input of that name, or an error that lists the names there are.
Result<Value*> FindInput(const Graph& graph, const std::string& name);

}  // namespace tern::tools
