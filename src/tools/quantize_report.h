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

std::string ReportText(const QuantizeReport& report, bool with_layers = true);
std::string ReportJson(const QuantizeReport& report);
std::string ReportPage(const QuantizeReport& report);

}  // namespace tern::tools
