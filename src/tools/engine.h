// Loads models and runs them: the one place where the commands meet the engine.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern::tools {

bool IsTernFile(const std::string& path);
// An .onnx or .tern file, told apart by their first bytes.
Result<std::unique_ptr<Graph>> LoadModel(const std::string& path);

struct EngineOptions {
  int threads = 0;         // 0: as many as the machine has
  bool reference = false;  // the slow, obvious evaluator
};

class Engine {
 public:
  static Result<Engine> Make(std::unique_ptr<Graph> graph, const EngineOptions& options);

  const Graph& graph() const { return *graph_; }
  // One datum per graph input; one per output.
  Result<DatumList> Run(const DatumList& inputs);
  // The same in two steps, for measuring: inputs are bound once, results stay inside.
  Status Bind(const DatumList& inputs);
  Status RunBound();
  // Which kernel runs each node ("reference": the slow evaluator); nodes not known are left out.
  std::map<const Node*, std::string> Kernels() const;

 private:
  explicit Engine(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
  std::unique_ptr<Graph> graph_;
  DatumList bound_;
};

}  // namespace tern::tools
