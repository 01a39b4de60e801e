// Emits conditions and loops, for the control flow of TF1 and TF2.
#pragma once
#include <functional>
#include <vector>

#include "import/tensorflow/converter.h"

namespace tern::tensorflow {

// Converts a scalar to a bool, as TensorFlow does for conditions.
Value* Truth(TfNode& n, Value* x);

// Converts a branch into `graph` and returns its results. `outputs` is the number of results that are
// tensors.
using BranchMaker = std::function<Result<std::vector<Edge>>(Graph& graph)>;
Result<std::vector<Edge>> Branch(TfNode& n, Value* condition, const BranchMaker& yes, const BranchMaker& no,
                                 int outputs);
// Like Branch, with a builder of another graph.
Result<std::vector<Edge>> BranchIn(TfNode& n, Builder& b, Value* condition, const BranchMaker& yes,
                                   const BranchMaker& no, int outputs);

struct LoopParts {
  std::vector<Edge> inputs;
  std::vector<bool> invariant;  // per input, true if the body returns it unchanged
  std::function<Result<Edge>(const std::vector<Edge>& args, Graph& graph)> condition;
  std::function<Result<std::vector<Edge>>(const std::vector<Edge>& args, Graph& graph)> body;
};
// Emits a loop and returns the final values of all inputs. The condition is tested before the first
// iteration.
Result<std::vector<Edge>> RunLoop(TfNode& n, const LoopParts& parts);

// Returns the value of an edge in this graph, in TensorFlow's layout. A list becomes a sequence. Returns null
// if the edge is a handle.
Value* Materialise(Builder& b, Edge& edge);

}  // namespace tern::tensorflow
