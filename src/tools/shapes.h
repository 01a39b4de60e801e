// The options --shape NAME=1x3x224x224, --dim N=8 and --batch N, which set the dims of inputs.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/datum.h"
#include "ir/graph.h"
#include "tools/args.h"

namespace tern::tools {

using Feeds = std::map<std::string, Datum>;  // name of the input → its value

class ShapeOptions {
 public:
  // `effect` says what the command does with the dims. It is appended to the help texts.
  void Declare(Args& args, const std::string& effect = "");
  // Sets the dims that the options specify, and the dims of other inputs that have the same symbols. Then
  // repeats shape inference. Fails if an input or symbol is unknown, or if a dim contradicts the model.
  Status Apply(Graph& graph) const;
  // Returns the types that --shape specifies, for LoadOptions::input_types. NAME=1x3 does not specify an
  // element type; NAME=i64[N,3] does.
  Result<std::map<std::string, Type>> InputTypes() const;
  // Applies only --batch. Used if the inputs come from files, which determine the other dims.
  Status ApplyBatch(Graph& graph) const;

 private:
  std::vector<std::string> shapes_, dims_;
  int64_t batch_ = 0;
};

// Sets the open dims of inputs that are not in `given`. Such inputs get random values, which need known dims.
// If the symbol of an open dim also occurs in a given input, the dim gets the size from that input. Other
// open dims are set to SmallestSize, with a note on stderr. Then repeats shape inference. Does nothing if
// every input is given.
Status CloseOpenDims(Graph& graph, const Feeds& given = {});

// Tries several sizes (1, 2, 16, …) for all open dims. Returns the smallest size for which shape inference
// succeeds. For example, a model with pooling windows may need a size above 1. Returns 1 if no size succeeds.
int64_t SmallestSize(const Graph& graph);

// Sets every open dim of the inputs to `size` without a note, and repeats shape inference.
Status FillOpenDims(Graph& graph, int64_t size);

// Parses dims such as "1x3x224". "" and "scalar" are a scalar.
Result<Dims> ParseDims(const std::string& text);

// Splits "NAME=VALUE" at the first equal sign. `form` is the form that the message of an error asks for.
Result<std::pair<std::string, std::string>> SplitPair(const std::string& text, const char* form);

// Returns the input or overridable constant of this name. If there is none, fails with a list of the inputs'
// names.
Result<Value*> FindInput(const Graph& graph, const std::string& name);

}  // namespace tern::tools
