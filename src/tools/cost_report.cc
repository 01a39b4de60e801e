#include "tools/cost_report.h"

#include <set>

namespace tern::tools {
namespace {

class Reporter {
 public:
  explicit Reporter(const std::map<const Node*, std::string>& kernels) : kernels_(kernels) {}

  void Add(const Graph& graph, int depth) {
    for (const auto& node : graph.nodes()) {
      AddNode(*node, depth);
      for (const auto& sub : node->subgraphs()) Add(*sub, depth + 1);
    }
    for (const auto& v : graph.values()) {  // counts the weights that no node reads
      int64_t ignored = 0;
      Count(v.get(), ignored);
    }
  }
  CostReport report;

 private:
  void AddNode(const Node& node, int depth) {
    Layer layer{&node, depth, 0, CostOf(node), ""};
    for (const Value* v : node.inputs()) Count(v, layer.params);
    if (layer.cost) report.total += *layer.cost;
    report.uncounted += !layer.cost;
    const auto kernel = kernels_.find(&node);
    if (kernel != kernels_.end()) layer.kernel = kernel->second;
    report.layers.push_back(std::move(layer));
  }
  void Count(const Value* v, int64_t& params) {
    if (!v || !IsParameter(*v) || !seen_.insert(v).second) return;
    params += v->constant.size();
    report.params += v->constant.size();
    report.param_bytes += static_cast<int64_t>(v->constant.bytes());
  }
  const std::map<const Node*, std::string>& kernels_;
  std::set<const Value*> seen_;
};

}  // namespace

CostReport MakeCostReport(const Graph& graph, const std::map<const Node*, std::string>& kernels) {
  Reporter reporter(kernels);
  reporter.Add(graph, 0);
  return std::move(reporter.report);
}

}  // namespace tern::tools
