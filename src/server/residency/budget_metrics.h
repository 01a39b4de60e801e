// Metrics of the memory budget.
#pragma once
#include "server/observe/metrics_text.h"
#include "server/residency/budget_state.h"

namespace tern::server {

void AppendBudget(const BudgetState& budget, MetricsText& text);

}  // namespace tern::server
