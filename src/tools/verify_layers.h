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
  load::LoadOptions load;  // how the model is loaded
  SessionOptions engine;   // options of the session that runs the kernels
  data::Tolerance tolerance;
  // If false, the inputs of each node are results of the reference evaluator, so its error is caused by this
  // node alone. If true, its inputs are results of the kernels before it, so errors accumulate.
  bool accumulated = false;
};

// The error of one node. If a node has several outputs, this is the error of the output with the largest
// error.
struct LayerError {
  std::string node, op, kernel, output;  // `output` is the type and dims of the output
  data::Comparison comparison;
  std::string data = "";  // the test vector

  bool ok() const { return comparison.difference.empty(); }
  // Returns the largest absolute error divided by the largest |wanted|. An error relative to each element
  // would overstate errors of elements near zero.
  double of_largest() const;
  bool WorseThan(const LayerError& other) const;
};

struct LayerReport {
  std::vector<LayerError> layers;         // in graph order; after Add, the largest errors first
  std::vector<std::string> not_compared;  // nodes whose results are random
  size_t wrong = 0;

  // Adds a report of the same model for another test vector, called `data`.
  void Add(const std::string& data, LayerReport other);
};

// Loads the model, optimizes it at the level of options.engine, and compares all its nodes. Keeps all values
// of the graph in memory until the end.
Result<LayerReport> CompareLayers(const std::string& model, const Feeds& feeds, const LayerOptions& options);

std::string LayerTable(const LayerReport& report, int64_t max_rows);
// Writes the keys "layers" and "layers_not_compared" with their values. The caller has begun a JSON object
// and ends it.
void WriteLayers(const LayerReport& report, data::JsonWriter& json);

}  // namespace tern::tools
