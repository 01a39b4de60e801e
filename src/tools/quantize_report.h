// The report of tern quantize: size, memory, speed, errors and accuracy before and after.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "compress/quantize/errors.h"
#include "tools/evaluate.h"

namespace tern::tools {

// Costs of one run of a model.
struct RunCost {
  double ms = 0;                         // the shortest run
  size_t memory = 0;                     // bytes of weights and intermediate values at their peak
  std::map<std::string, double> layers;  // ms of nodes by name, each the shortest
};

struct QuantizeReport {
  std::string model, output, method;
  size_t samples = 0;
  const compress::Quantized* made = nullptr;
  uint64_t bytes_before = 0, bytes_after = 0;
  RunCost before, after;
  compress::ErrorSums outputs;
  std::vector<compress::ErrorSums> layers;  // of made->layers; empty if not measured
  std::map<std::string, double> alone;      // SQNR of the outputs if only this layer is quantized
  std::optional<Evaluation> evaluation;
};

// Measures the costs of two models on the same inputs, in turns.
Status MeasureCosts(const Graph& before, const Graph& after, const DatumList& inputs, int threads,
                    QuantizeReport& report);

std::string ReportText(const QuantizeReport& report);
std::string ReportJson(const QuantizeReport& report);
std::string ReportPage(const QuantizeReport& report);

}  // namespace tern::tools
