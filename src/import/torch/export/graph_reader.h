// Converts the graphs of an exported program into Tern nodes.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "import/common/inlined_limit.h"
#include "import/common/unsupported.h"
#include "import/torch/aten/call.h"
#include "import/torch/export/arguments.h"

namespace tern::torch {

inline constexpr int kMaxGraphDepth = 100;  // the deepest nesting of graphs

// Reads one graph. The nodes go into the graph of the context.
class GraphReader {
 public:
  // `symbols` are the symbols in the sizes of the program's inputs. The reader counts `nodes`.
  GraphReader(TorchContext& context, const std::set<std::string>& symbols, import::InlinedLimit& nodes,
              int depth)
      : context(context), symbols_(symbols), nodes_(nodes), depth_(depth) {}

  TorchContext& context;
  Names names;

  Status ReadNodes(Json graph);
  // Returns the results of the graph, in the order of its outputs.
  Result<std::vector<Arg>> Outputs(Json graph) const;
  // Adds the nodes of a nested graph to the context's graph. `inputs` are the values of its inputs.
  Result<std::vector<Arg>> Inline(Json graph, const std::vector<Arg>& inputs) const;
  // Fills a subgraph of a control-flow node: adds the nodes of the nested graphs and sets the outputs.
  // `body` gets the reader for this subgraph and returns the outputs.
  template <class F> Status FillSubgraph(Graph& subgraph, const Place& place, F&& body);
  Result<Value*> ValueOf(const Arg& arg, Builder& b) const;

 private:
  Status ReadNode(Json node, int index);
  Result<std::vector<Arg>> RunTarget(const std::string& target, Json node, const Place& place);
  Result<std::vector<Arg>> CallAten(const std::string& op, Json node, const Place& place);
  void Refine(Json graph, const std::string& name);
  Status SetOutputs(Graph& subgraph, const std::vector<Arg>& results, const TorchContext::Scope& scope,
                    const Place& place) const;

  const std::set<std::string>& symbols_;
  import::InlinedLimit& nodes_;
  int depth_;
};

// Higher-order operators, such as cond and while_loop, whose arguments are graphs. `name` is "cond".
Result<std::vector<Arg>> CallHigherOrder(GraphReader& reader, const std::string& name, Json node,
                                         const Place& place);
bool SupportsHigherOrder(const std::string& name);

// Adds the operators of a graph and of its nested graphs that are not supported. Returns the number of nodes.
Result<int64_t> ListUnsupported(Json graph, import::UnsupportedOperators& missing, int depth = 0);

// Returns "aten::add.Tensor" for "torch.ops.aten.add.Tensor", or an empty text for other targets.
std::string OperatorOfTarget(const std::string& target);
// Returns the kind of ScalarOp for "_operator.floordiv", "torch.sym_max" and the like, or an empty text.
std::string ScalarKindOfTarget(const std::string& target);

template <class F> Status GraphReader::FillSubgraph(Graph& subgraph, const Place& place, F&& body) {
  const TorchContext::Scope scope(context, subgraph);
  TERN_ASSIGN(const std::vector<Arg> results, body());
  return SetOutputs(subgraph, results, scope, place);
}

}  // namespace tern::torch
