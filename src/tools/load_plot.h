// Draws the plot of `tern load --svg`, which shows latency by percentile with one curve per step.
#pragma once
#include <string>

#include "server/load/load.h"

namespace tern::tools {

std::string LoadPlot(const server::LoadReport& report);

}  // namespace tern::tools
