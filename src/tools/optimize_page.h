// One self-contained web page with the graph before and after optimization, side by side.
#pragma once
#include <string>

#include "tools/optimize_report.h"

namespace tern::tools {

// Both graphs must have no open dims, so that every node's cost is known.
std::string OptimizePage(const std::string& model, const Graph& before, const Graph& after,
                         const OptimizeFigures& figures);

}  // namespace tern::tools
