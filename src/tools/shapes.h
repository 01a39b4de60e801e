// --shape NAME=1x3x224x224, --dim N=8 and --batch N: what the user says about a model's dims.
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
  // effect: what else becomes of the dims that are set, where that is to be told.
  void Declare(Args& args, const std::string& effect = "");
  // Sets the inputs' dims, in all inputs that share a symbol, and infers the graph anew. Names that no input
  // has, and dims that contradict the model, are errors.
  Status Apply(Graph& graph) const;
  // --batch alone, for a model whose other dims follow from what it is fed.
  Status ApplyBatch(Graph& graph) const;

 private:
  std::vector<std::string> shapes_, dims_;
  int64_t batch_ = 0;
};

// For inputs that are made up beside these: open dims take what the given tensors say, in all inputs that
// share a symbol; what is still open gets SmallestSize, which is said on stderr. Infers the graph anew. With
// every input given there is nothing to close.
Status CloseOpenDims(Graph& graph, const Feeds& given = {});

// The first of a few sizes that all open dims can have at once: 1, unless the model needs more (windows of
// pooling, seconds of sound); 1 where none fits.
int64_t SmallestSize(const Graph& graph);

// Sets every dim of the inputs that is still open to `size`, in silence; then infers anew.
Status FillOpenDims(Graph& graph, int64_t size);

// "1x3x224" to dims; "" and "scalar" are a scalar.
Result<Dims> ParseDims(const std::string& text);

// The input of that name, or an error that lists the names there are.
Result<Value*> FindInput(const Graph& graph, const std::string& name);

}  // namespace tern::tools
