// Returns a self-contained web page that shows the graph before and after optimization, side by side.
#pragma once
#include <string>

#include "tools/optimize_report.h"

namespace tern::tools {

// The graphs must have no open dims, so that the costs of their nodes are known.
std::string OptimizePage(const std::string& model, const Graph& before, const Graph& after,
                         const OptimizeFigures& figures);

}  // namespace tern::tools
