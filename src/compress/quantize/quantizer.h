// Static post-training quantization: observes a model on calibration data, then writes it with integer
// weights and grids.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "compress/quantize/insert.h"
#include "compress/quantize/observe.h"

namespace tern::compress {

struct QuantizeOptions {
  MethodOptions activations;
  WeightOptions weights;
  std::map<std::string, std::string> keep;  // names of layers that stay float, with the reason
  int threads = 0;                          // 0: one per core
};

// A value with a grid, for reports.
struct GridReport {
  std::string value;
  Grid grid;
  Range observed;
  double sqnr = 0, cosine = 0;  // of rounding alone, from the histogram
};

struct Quantized {
  std::unique_ptr<Graph> graph;
  std::vector<GridReport> grids;              // in graph order
  std::vector<std::string> layers;            // names of the layers with integer weights
  std::map<std::string, std::string> floats;  // layers that stay float, with the reason
};

class Quantizer {
 public:
  // Folds batch normalizations, finds the ops behind decomposed functions, and removes what is redundant.
  // Fails if no layer can be quantized.
  static Result<std::unique_ptr<Quantizer>> Make(std::unique_ptr<Graph> graph,
                                                 const QuantizeOptions& options);

  // Runs the float model on the samples. Fails if there are none.
  Status Observe(Samples& samples, const ShowProgress& show);
  // Returns a quantized copy of the graph. Layers whose name is in `keep` stay float, beside those of the
  // options. Call it after Observe.
  Result<Quantized> Write(const std::map<std::string, std::string>& keep = {}) const;

  const Graph& graph() const { return *graph_; }  // the float graph that is observed
  const Placement& placement() const { return placement_; }

 private:
  Quantizer() = default;
  // Adds layers to `keep` whose operands have no grid, because their values are not finite. Returns true if
  // it added one.
  bool KeepNotFinite(const Placement& placement, const std::vector<Statistics>& statistics,
                     std::map<std::string, std::string>& keep) const;
  std::vector<Statistics> StatisticsOf(const Graph& copy, const Placement& placement) const;

  std::unique_ptr<Graph> graph_;
  QuantizeOptions options_;
  Placement placement_;
  std::unique_ptr<Observer> observer_;
};

}  // namespace tern::compress
