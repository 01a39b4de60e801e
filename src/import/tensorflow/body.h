// The nodes of a graph or of a function, and the names of their outputs.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

// A name of a tensor: "node", "node:1", in a function also "node:output:1".
struct TensorName {
  std::string node;
  std::string output;  // the name of an output argument, or empty
  int index = 0;
};
Result<TensorName> ParseTensorName(std::string_view text);
inline bool IsControl(std::string_view input) { return !input.empty() && input[0] == '^'; }

struct Body {
  std::string name;                           // of the function; empty for the graph
  const pb::FunctionDef* function = nullptr;  // null for the graph
  std::map<std::string, const pb::NodeDef*, std::less<>> nodes;
  std::map<std::string, int, std::less<>> args;  // parameters of the function → position

  static Result<Body> OfGraph(const pb::GraphDef& graph);
  static Result<Body> OfFunction(const pb::FunctionDef& function);
  const pb::NodeDef* Find(std::string_view name) const;
};

using Functions = std::map<std::string, Body>;

// Returns the position of a tensor among the outputs of its node. Resolves the names of output arguments.
Result<int> OutputIndex(const TensorName& name, const pb::NodeDef& node, const Functions& functions);
// Returns the functions that a node calls. These are the function attributes of the node, and the function
// with the name of its operator, if there is one.
std::vector<std::string> CalledFunctions(const pb::NodeDef& node, const Functions& functions);

}  // namespace tern::tensorflow
