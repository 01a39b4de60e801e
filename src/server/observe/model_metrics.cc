// Writes Triton's metrics of models, under the same names, and further metrics of Tern.
#include <algorithm>

#include "server/core/backend.h"
#include "server/observe/machine.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

struct Row {
  MetricsText::Labels labels;
  StatisticsSnapshot totals;
  ModelVersion* version = nullptr;
  std::shared_ptr<const ModelProcess> process;
};

std::vector<Row> RowsOf(const Versions& versions) {
  std::vector<Row> rows;
  for (const auto& version : versions) {
    Row row;
    row.labels = LabelsOf(*version);
    row.totals = version->statistics().Snapshot();
    row.version = version.get();
    row.process = version->process();
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Counter {
  const char* name;
  const char* help;
  uint64_t (*value)(const StatisticsSnapshot&);
};

constexpr Counter kCounters[] = {
    {"nv_inference_request_success", "Number of successful inference requests, all batch sizes",
     [](const StatisticsSnapshot& s) { return s.success.count; }},
    {"nv_inference_count", "Number of inferences performed (does not include cached requests)",
     [](const StatisticsSnapshot& s) { return s.inference_count; }},
    {"nv_inference_exec_count", "Number of model executions performed (does not include cached requests)",
     [](const StatisticsSnapshot& s) { return s.execution_count; }},
    {"nv_inference_request_duration_us",
     "Cumulative inference request duration in microseconds (includes cached requests)",
     [](const StatisticsSnapshot& s) { return s.success.ns / 1000; }},
    {"nv_inference_queue_duration_us",
     "Cumulative inference queuing duration in microseconds (includes cached requests)",
     [](const StatisticsSnapshot& s) { return s.queue.ns / 1000; }},
    {"nv_inference_compute_input_duration_us",
     "Cumulative compute input duration in microseconds (does not include cached requests)",
     [](const StatisticsSnapshot& s) { return s.compute_input.ns / 1000; }},
    {"nv_inference_compute_infer_duration_us",
     "Cumulative compute inference duration in microseconds (does not include cached requests)",
     [](const StatisticsSnapshot& s) { return s.compute_infer.ns / 1000; }},
    {"nv_inference_compute_output_duration_us",
     "Cumulative inference compute output duration in microseconds (does not include cached requests)",
     [](const StatisticsSnapshot& s) { return s.compute_output.ns / 1000; }},
};

constexpr const char* kReasons[kFailReasons] = {"REJECTED", "CANCELED", "BACKEND", "OTHER"};

void AppendCounters(const std::vector<Row>& rows, MetricsText& text) {
  for (const Counter& counter : kCounters) {
    text.Family(counter.name, "counter", counter.help);
    for (const Row& row : rows) text.Sample(counter.name, row.labels, counter.value(row.totals));
  }
}

void AppendFailures(const std::vector<Row>& rows, MetricsText& text) {
  constexpr const char* kName = "nv_inference_request_failure";
  text.Family(kName, "counter", "Number of failed inference requests, all batch sizes");
  for (const Row& row : rows)
    for (int r = 0; r < kFailReasons; ++r) {
      MetricsText::Labels labels = row.labels;
      labels.emplace_back("reason", kReasons[r]);
      text.Sample(kName, labels, row.totals.failures[static_cast<size_t>(r)]);
    }
}

void AppendHistograms(const std::vector<Row>& rows, MetricsText& text) {
  constexpr const char* kName = "tern_request_duration_seconds";
  text.Family(kName, "histogram", "Duration of inference requests by phase");
  for (const Row& row : rows)
    for (int p = 0; p < kPhases; ++p) {
      if (static_cast<Phase>(p) == Phase::kCache && !row.version->config().response_cache) continue;
      MetricsText::Labels labels = row.labels;
      labels.emplace_back("phase", PhaseName(static_cast<Phase>(p)));
      text.Histogram(kName, labels, row.version->statistics().histogram(static_cast<Phase>(p)));
    }
}

// Metrics of the loading and the validation of the versions.
void AppendLifeCycle(const std::vector<Row>& rows, MetricsText& text) {
  text.Family("tern_model_golden_requests", "gauge",
              "Golden requests that the version passed before its release");
  for (const Row& row : rows)
    text.Sample("tern_model_golden_requests", row.labels, uint64_t{row.version->golden_requests()});
  const auto memory = [&](const char* name, const char* help, uint64_t ChangeMemory::*field) {
    text.Family(name, "gauge", help);
    for (const Row& row : rows) text.Sample(name, row.labels, row.version->change_memory().*field);
  };
  memory("tern_model_change_before_bytes", "Resident memory of the server before the version was loaded",
         &ChangeMemory::before);
  memory("tern_model_change_peak_bytes", "Largest resident memory of the server while the version was loaded",
         &ChangeMemory::peak);
}

// Names of values come from back ends, so they are labels and not names of metrics.
void AppendBackendValues(const std::vector<Row>& rows, MetricsText& text) {
  constexpr const char* kName = "tern_backend_value";
  bool first = true;
  for (const Row& row : rows)
    for (const auto& [value_name, value] : row.version->Metrics()) {
      if (std::exchange(first, false)) text.Family(kName, "gauge", "Values that back ends report");
      MetricsText::Labels labels = row.labels;
      labels.emplace_back("name", value_name);
      text.Sample(kName, labels, value);
    }
}

void AppendProcesses(const std::vector<Row>& rows, MetricsText& text) {
  const auto any = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.process; });
  if (any) text.Family("tern_model_process_up", "gauge", "Whether the process of an isolated model runs");
  for (const Row& row : rows)
    if (row.process) text.Sample("tern_model_process_up", row.labels, uint64_t{row.version->Ready()});
  if (any) text.Family("tern_model_process_resident_bytes", "gauge", "Resident memory of the process");
  for (const Row& row : rows)
    if (row.process)
      text.Sample("tern_model_process_resident_bytes", row.labels, ResidentBytes(row.process->pid()));
  constexpr const char* kEnds = "tern_model_process_restarts_total";
  if (any) text.Family(kEnds, "counter", "Restarts of processes of isolated models after they had ended");
  for (const Row& row : rows) {
    if (!row.process) continue;
    for (const auto& [reason, count] : row.process->Ends()) {
      MetricsText::Labels labels = row.labels;
      labels.emplace_back("reason", reason);
      text.Sample(kEnds, labels, count);
    }
  }
  text.Family("tern_model_hangs_total", "counter",
              "Executions in the server that took longer than execution_timeout_ms");
  for (const Row& row : rows) text.Sample("tern_model_hangs_total", row.labels, row.version->Hangs());
}

}  // namespace

MetricsText::Labels LabelsOf(const ModelVersion& version) {
  MetricsText::Labels labels{{"model", version.config().name}, {"version", version.version()}};
  for (const auto& [key, value] : version.config().metric_tags) labels.emplace_back(key, value);
  return labels;
}

void AppendModelMetrics(const Versions& versions, MetricsText& text) {
  const std::vector<Row> rows = RowsOf(versions);
  AppendCounters(rows, text);
  AppendFailures(rows, text);
  text.Family("nv_inference_pending_request_count", "gauge",
              "Instantaneous number of pending requests awaiting execution per-model.");
  for (const Row& row : rows)
    text.Sample("nv_inference_pending_request_count", row.labels, uint64_t{row.version->Pending()});
  text.Family("nv_model_load_duration_secs", "gauge", "Model load time in seconds");
  for (const Row& row : rows)
    text.Sample("nv_model_load_duration_secs", row.labels,
                std::chrono::duration<double>(row.version->load_time()).count());
  AppendLifeCycle(rows, text);
  AppendHistograms(rows, text);
  text.Family("tern_model_cpu_seconds_total", "counter", "Processor time of the model's executions");
  for (const Row& row : rows)
    text.Sample("tern_model_cpu_seconds_total", row.labels, static_cast<double>(row.totals.cpu_ns) * 1e-9);
  text.Family("tern_model_memory_bytes", "gauge", "Memory of the model: weights and packed weights");
  for (const Row& row : rows)
    text.Sample("tern_model_memory_bytes", row.labels, uint64_t{row.version->MemoryBytes()});
  AppendProcesses(rows, text);
  AppendBackendValues(rows, text);
}

}  // namespace tern::server
