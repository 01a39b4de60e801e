// The plot of `tern load --svg`: latency by percentile, one curve per step.
#pragma once
#include <string>

#include "server/load/load.h"

namespace tern::tools {

std::string LoadPlot(const server::LoadReport& report);

}  // namespace tern::tools
