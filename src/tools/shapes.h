// --shape NAME=1x3x224x224, --dim N=8 and --batch N: dims that the user sets.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/datum.h"
#include "ir/graph.h"
#include "tools/args.h"

namespace tern::tools {

using Feeds = std::map<std::string, Datum>;  // by the input's name

class ShapeOptions {
 public:
  // effect: text for the help about what the command does with the dims.
  void Declare(Args& args, const std::string& effect = "");
  // Sets the inputs' dims, in all inputs that share a symbol, and repeats shape inference. Unknown input
  // names and dims that contradict the model are errors.
  Status Apply(Graph& graph) const;
  // Applies only --batch, for a model whose other dims follow from its inputs.
  Status ApplyBatch(Graph& graph) const;

 private:
  std::vector<std::string> shapes_, dims_;
  int64_t batch_ = 0;
};

// Sets the open dims of inputs that will be random: to the sizes of the given tensors, in all inputs that
// share a symbol; the rest to SmallestSize, with a note on stderr. Repeats shape inference. Does nothing if
// every input is given.
Status CloseOpenDims(Graph& graph, const Feeds& given = {});

// The first of several sizes that all open dims can have at once: 1, unless the model needs more (pooling
// windows, audio length); 1 if none fits.
int64_t SmallestSize(const Graph& graph);

// Sets every open dim of the inputs to `size` without a note, and repeats shape inference.
Status FillOpenDims(Graph& graph, int64_t size);

// "1x3x224" to dims; "" and "scalar" are a scalar.
Result<Dims> ParseDims(const std::string& text);

// The input of that name, or an error that lists the names.
Result<Value*> FindInput(const Graph& graph, const std::string& name);

}  // namespace tern::tools
