// tern verify --layers: each node of the optimized graph against the reference evaluator.
#pragma once
#include <string>
#include <vector>

#include "data/compare.h"
#include "data/json_writer.h"
#include "tools/engine.h"
#include "tools/shapes.h"

namespace tern::tools {

struct LayerOptions {
  SessionOptions engine;  // of the kernels: threads, level, precision
  data::Tolerance tolerance;
  // False: every node reads what the reference evaluator gives for the nodes before it, so that its error is
  // its own. True: it reads what the kernels before it gave, so that errors add up.
  bool accumulated = false;
};

struct LayerError {
  std::string node, op, kernel, output;  // output: type and dims of the worst output
  data::Comparison comparison;           // of the worst output
  std::string data = "";                 // which inputs these were

  bool ok() const { return comparison.difference.empty(); }
  // The largest error relative to the largest |wanted|. Element by element, results near zero would hide
  // which errors matter.
  double of_largest() const;
  bool WorseThan(const LayerError& other) const;
};

struct LayerReport {
  std::vector<LayerError> layers;         // in the graph's order, or the worst first after Add
  std::vector<std::string> not_compared;  // nodes whose results are random
  size_t wrong = 0;

  // Adds a report of the same model for other inputs.
  void Add(const std::string& data, LayerReport other);
};

// The graph is the model's, optimized as a session of that level does it. Every value of the graph is held in
// memory at once. Errors name the node.
Result<LayerReport> CompareLayers(const std::string& model, const Feeds& feeds, const LayerOptions& options);

std::string LayerTable(const LayerReport& report, int64_t most);
// "layers": […], "layers_not_compared": […] of an open object.
void WriteLayers(const LayerReport& report, data::JsonWriter& json);

}  // namespace tern::tools
