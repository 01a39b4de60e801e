// tern verify --layers: compares each node of the optimized graph with the reference evaluator.
#pragma once
#include <string>
#include <vector>

#include "data/compare.h"
#include "data/json_writer.h"
#include "tools/engine.h"
#include "tools/shapes.h"

namespace tern::tools {

struct LayerOptions {
  SessionOptions engine;  // options of the kernels' session: threads, level, precision
  data::Tolerance tolerance;
  // False: every node reads the reference evaluator's results, so that its error is separate from earlier
  // ones. True: it reads the results of the kernels before it, so that errors accumulate.
  bool accumulated = false;
};

struct LayerError {
  std::string node, op, kernel, output;  // output: type and dims of the worst output
  data::Comparison comparison;           // of the worst output
  std::string data = "";                 // the input set of the worst output

  bool ok() const { return comparison.difference.empty(); }
  // The largest error relative to the largest |wanted|. Elementwise relative errors would overstate errors of
  // results near zero.
  double of_largest() const;
  bool WorseThan(const LayerError& other) const;
};

struct LayerReport {
  std::vector<LayerError> layers;         // in the graph's order, or the worst first after Add
  std::vector<std::string> not_compared;  // nodes whose results are random
  size_t wrong = 0;

  // Merges a report of the same model for other inputs.
  void Add(const std::string& data, LayerReport other);
};

// Loads the model and optimizes it as a session of that level does. Holds all values of the graph in memory
// at once. Errors name the node.
Result<LayerReport> CompareLayers(const std::string& model, const Feeds& feeds, const LayerOptions& options);

std::string LayerTable(const LayerReport& report, int64_t max_rows);
// Writes "layers": […], "layers_not_compared": […] into an open object.
void WriteLayers(const LayerReport& report, data::JsonWriter& json);

}  // namespace tern::tools
