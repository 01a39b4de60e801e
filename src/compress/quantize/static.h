// The sequence of static quantization: calibrate, decide which layers stay float, write, and measure.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compress/quantize/costs.h"
#include "compress/quantize/mixed.h"

namespace tern::compress {

struct StaticOptions {
  QuantizeOptions quantize;
  // Keep the most sensitive layers float until the outputs have this many dB. 0: keep none.
  double min_sqnr = 0;
  bool fastest = false;  // keep layers float whose integer kernels are slower, if that makes the model faster
  bool layers = false;   // also measure the errors of each layer
  bool sensitivity = false;  // also measure the outputs with one layer at a time quantized
  Quantizer::Resume resume;
  // Called with the share of a phase that is done. May be empty.
  ShowProgress calibrating, measuring;
};

struct StaticReport {
  Quantized made;
  size_t samples = 0;
  RunCosts costs;
  ErrorSums outputs;
  std::vector<ErrorSums> layers;        // of made.layers; empty if not measured
  std::map<std::string, double> alone;  // SQNR of the outputs if only this layer is quantized
};

// Fails if no layer can be quantized, if there are no samples, or if a layer of options.quantize.keep does
// not exist.
Result<StaticReport> QuantizeStatic(std::unique_ptr<Graph> graph, Samples& samples,
                                    const StaticOptions& options);

}  // namespace tern::compress
