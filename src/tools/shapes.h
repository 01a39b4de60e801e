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
  // Sets the inputs' dims, in all inputs that share a symbol, and repeats shape inference. Fails on unknown
  // input names and on dims that contradict the model.
  Status Apply(Graph& graph) const;
  // Applies only --batch, for a model whose other dims follow from its inputs.
  Status ApplyBatch(Graph& graph) const;

 private:
  std::vector<std::string> shapes_, dims_;
  int64_t batch_ = 0;
};

// Sets the open dims of inputs that will be random. A symbol that a given tensor has too gets the size in
// that tensor. Other dims get SmallestSize, with a note on stderr. Repeats shape inference. Does nothing if
// every input is given.
Status CloseOpenDims(Graph& graph, const Feeds& given = {});

// Returns the first of several sizes that all open dims can have at once. It is 1, unless the model needs
// more (pooling windows, audio length). Returns 1 if no size fits.
int64_t SmallestSize(const Graph& graph);

// Sets every open dim of the inputs to `size` without a note, and repeats shape inference.
Status FillOpenDims(Graph& graph, int64_t size);

// Parses dims such as "1x3x224". "" and "scalar" are a scalar.
Result<Dims> ParseDims(const std::string& text);

// Returns the input of that name. Fails with a list of the names.
Result<Value*> FindInput(const Graph& graph, const std::string& name);

}  // namespace tern::tools
