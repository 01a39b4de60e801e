// The report of tern quantize: size, memory, speed, errors and accuracy before and after.
#pragma once
#include <optional>
#include <string>

#include "quantize/report.h"
#include "tools/evaluate.h"

namespace tern::tools {

struct QuantizeReport {
  std::string model, method;
  quantize::Files files = {};
  compress::StaticReport result = {};
  std::optional<Evaluation> evaluation = {};
};

// Returns the run time of the layer, or 0 if it was not measured.
double TimeOf(const compress::RunCost& cost, const std::string& layer);

std::string ReportText(const QuantizeReport& report, bool with_layers = true);
std::string ReportJson(const QuantizeReport& report);
std::string ReportPage(const QuantizeReport& report);

}  // namespace tern::tools
