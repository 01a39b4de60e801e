// Static post-training quantization: collects activation statistics on calibration data, then writes the
// model with integer weights and the quantization parameters (type, scale, zero point: a Grid) of its
// activations.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "compress/quantize/adaround.h"
#include "compress/quantize/insert.h"
#include "compress/quantize/observe.h"

namespace tern::compress {

struct QuantizeOptions {
  MethodOptions activations;
  WeightOptions weights;
  bool equalize = false;      // cross-layer equalization before calibration
  bool adaround = true;       // round weights for the least error of results; otherwise to nearest
  bool correct_bias = true;   // change biases so that rounded weights do not shift the mean of results
  bool integer_bias = false;  // biases become i32, as other engines need them; otherwise they stay f32
  std::map<std::string, std::string> keep;  // names of layers that stay float, with the reason
  int threads = 0;                          // 0: one per core
};

// The quantization parameters of one activation, for reports.
struct GridReport {
  std::string value;
  Grid grid;
  Range observed;
  double sqnr = 0, cosine = 0;  // of rounding and clipping, from the histogram
  std::vector<double> bars;     // fractions of the values in 64 equal parts of the observed range
};

// A layer with integer weights.
struct LayerReport {
  std::string name;
  // RMS error of the layer's output caused by weight rounding, apart from the mean error: `nearest_error`
  // with round-to-nearest, `error` with the weights that are written. 0 if not known.
  double nearest_error = 0, error = 0;
  const Value* real = nullptr;     // the layer's result in the quantizer's graph, after the epilogue
  const Value* written = nullptr;  // the layer's result in the quantized graph, after Dequantize
};

struct Quantized {
  std::unique_ptr<Graph> graph;
  std::vector<GridReport> grids;              // in graph order
  std::vector<LayerReport> layers;            // with integer weights, in graph order
  std::map<std::string, std::string> floats;  // layers that stay float, with the reason
};

class Quantizer {
 public:
  // Folds BatchNorms, fuses decomposed subgraphs such as LayerNorm and GELU into single ops, and removes
  // redundant nodes. Fails if no layer can be quantized.
  static Result<std::unique_ptr<Quantizer>> Make(std::unique_ptr<Graph> graph,
                                                 const QuantizeOptions& options);

  // The state of an unfinished calibration, as named arrays.
  using State = std::vector<std::pair<std::string, Tensor>>;
  struct Resume {
    State state;  // of an earlier call that was interrupted; empty if there is none
    // Called each time another 10 % of the samples are done, to store the state. May be empty.
    std::function<Status(const State&)> save;
  };

  // Runs the float model on the samples. Fails if there are none, or if a state is given that belongs to
  // another model, to samples with other names, or to options that need other statistics. Equalization
  // changes graph() and runs the model on the first samples once more.
  Status Observe(Samples& samples, const ShowProgress& show, const Resume& resume = {});
  // Returns a quantized copy of the graph. Layers whose name is in `keep` stay float, beside those of the
  // options. Call it after Observe.
  Result<Quantized> Write(const std::map<std::string, std::string>& keep = {}) const;

  const Graph& graph() const { return *graph_; }  // the float graph that is observed
  const Placement& placement() const { return placement_; }
  const QuantizeOptions& options() const { return options_; }

 private:
  Quantizer() = default;
  // Adds layers to `keep` whose left operand cannot be quantized, because some of its values were not finite
  // or it was empty. Returns true if it added one.
  bool KeepNotFinite(const Placement& placement, const std::vector<Statistics>& statistics,
                     std::map<std::string, std::string>& keep) const;
  std::vector<Statistics> StatisticsOf(const Graph& copy, const Placement& placement) const;
  Status EqualizeOn(Samples& samples);
  // The state after `done` samples. Restore returns the number of samples that are done.
  State Save(const Samples& samples, size_t done) const;
  Result<size_t> Restore(const Samples& samples, const State& state);
  int64_t KeyOf(const Samples& samples) const;
  void AddMoments(const DatumList& values, size_t sample, size_t samples);
  LayerWeights WeightsOf(const Layer& layer, float input_scale, LayerReport& report) const;

  std::unique_ptr<Graph> graph_;
  QuantizeOptions options_;
  Placement placement_;
  std::unique_ptr<Observer> observer_;
  // Statistics of the input rows (im2col rows for a convolution) of each layer's matrix product. The key is
  // the layer's name.
  struct Operand {
    Patches patches;
    Moments moments;
    size_t value;  // index in observer_->values()
  };
  std::map<std::string, Operand> operands_;
};

}  // namespace tern::compress
