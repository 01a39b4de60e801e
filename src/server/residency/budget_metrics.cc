#include "server/residency/budget_metrics.h"

namespace tern::server {
namespace {

struct Row {
  MetricsText::Labels labels;
  bool resident = false;
  uint64_t cost = 0, loads = 0, evictions = 0;
  double load_seconds = 0;
};

std::vector<Row> RowsOf(const BudgetState& budget) {
  std::vector<Row> rows;
  budget.ForEach([&](const Account& account) {
    rows.push_back({{{"model", account.model}, {"version", account.version}},
                    account.state == Account::State::kResident,
                    account.cost,
                    account.loads,
                    account.evictions,
                    std::chrono::duration<double>(account.load_time).count()});
  });
  return rows;
}

}  // namespace

void AppendBudget(const BudgetState& budget, MetricsText& text) {
  const BudgetCounts counts = budget.Counts();
  const auto one = [&](const char* name, const char* type, const char* help, uint64_t value) {
    text.Family(name, type, help);
    text.Sample(name, {}, value);
  };
  one("tern_budget_bytes", "gauge", "Memory budget of resident models", budget.bytes());
  one("tern_budget_resident_bytes", "gauge", "Bytes of the budget that models take", counts.resident_bytes);
  one("tern_budget_resident_models", "gauge", "Number of resident model versions", counts.resident_models);
  one("tern_budget_waiting_requests", "gauge", "Requests that wait until their model is loaded",
      counts.waiting);
  one("tern_budget_hits_total", "counter", "Requests whose model was resident", counts.hits);
  one("tern_budget_misses_total", "counter", "Requests that waited for their model", counts.misses);
  one("tern_budget_load_failures_total", "counter", "Failed loads", counts.failures);
  text.Family("tern_budget_wait_seconds", "histogram", "Time that requests waited for their model");
  text.Histogram("tern_budget_wait_seconds", {}, budget.waits());
  const std::vector<Row> rows = RowsOf(budget);
  const auto each = [&](const char* name, const char* type, const char* help, auto value) {
    text.Family(name, type, help);
    for (const Row& row : rows) text.Sample(name, row.labels, value(row));
  };
  each("tern_model_resident", "gauge", "1 if the version is in memory",
       [](const Row& row) { return uint64_t{row.resident}; });
  each("tern_model_cost_bytes", "gauge", "Memory of the version when it was resident last; 0: never",
       [](const Row& row) { return row.cost; });
  each("tern_model_load_seconds", "gauge", "Mean duration of the last loads",
       [](const Row& row) { return row.load_seconds; });
  each("tern_model_loads_total", "counter", "Loads", [](const Row& row) { return row.loads; });
  each("tern_model_evictions_total", "counter", "Evictions", [](const Row& row) { return row.evictions; });
}

}  // namespace tern::server
