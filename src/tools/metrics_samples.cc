#include "tools/metrics_samples.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace tern::tools {
namespace {

// Removes {name="value",…} from the front of a line. Returns false if the labels are malformed.
bool TakeLabels(std::string_view& line, std::map<std::string, std::string>& labels) {
  if (line.empty() || line.front() != '{') return true;
  line.remove_prefix(1);
  while (!line.empty() && line.front() != '}') {
    const size_t equal = line.find("=\"");
    if (equal == std::string_view::npos) return false;
    std::string name(line.substr(0, equal)), value;
    line.remove_prefix(equal + 2);
    while (!line.empty() && line.front() != '"') {
      if (line.front() == '\\' && line.size() > 1) line.remove_prefix(1);
      value += line.front();
      line.remove_prefix(1);
    }
    if (line.empty()) return false;
    line.remove_prefix(1);
    if (!line.empty() && line.front() == ',') line.remove_prefix(1);
    labels[std::move(name)] = std::move(value);
  }
  if (line.empty()) return false;
  line.remove_prefix(1);
  return true;
}

double Number(std::string_view text) {
  double value = 0;
  if (text == "+Inf") return HUGE_VAL;
  return ParseDouble(text, value) ? value : 0;
}

std::string LabelOf(const MetricSample& m, const char* name) {
  const auto found = m.labels.find(name);
  return found == m.labels.end() ? "" : found->second;
}

// Returns the phase that a counter of Triton measures. Servers other than Tern have these counters instead
// of the histograms.
const char* PhaseOfCounter(const std::string& name) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"nv_inference_request_duration_us", "request"},
      {"nv_inference_queue_duration_us", "queue"},
      {"nv_inference_compute_input_duration_us", "input"},
      {"nv_inference_compute_infer_duration_us", "compute"},
      {"nv_inference_compute_output_duration_us", "output"}};
  for (const auto& [counter, phase] : kNames)
    if (name == counter) return phase;
  return nullptr;
}

void AddHistogram(const MetricSample& m, ModelSample& model) {
  PhaseCount& phase = model.phases[LabelOf(m, "phase")];
  if (EndsWith(m.name, "_sum")) phase.seconds = m.value;
  if (EndsWith(m.name, "_count")) phase.count = m.value;
  if (EndsWith(m.name, "_bucket")) phase.buckets[Number(LabelOf(m, "le"))] = m.value;
}

// In the text, the samples of tern_bottleneck precede those of the stage times.
void AddStage(const MetricSample& m, ModelSample& model) {
  const std::string stage = LabelOf(m, "stage");
  if (m.name == "tern_bottleneck" && m.value == 1) model.bottleneck = stage;
  if (stage.empty() || stage != model.bottleneck) return;
  if (m.name == "tern_stage_seconds") model.bottleneck_seconds = m.value;
  if (m.name == "tern_stage_usual_seconds") model.bottleneck_usual_seconds = m.value;
}

void Add(const MetricSample& m, ModelSample& model) {
  if (m.name == "nv_inference_request_success") model.success = m.value;
  if (m.name == "nv_inference_request_failure") model.failure += m.value;
  if (m.name == "nv_inference_count") model.inferences = m.value;
  if (m.name == "nv_inference_exec_count") model.executions = m.value;
  if (m.name == "nv_inference_pending_request_count") model.pending = m.value;
  if (m.name == "tern_model_cpu_seconds_total") model.cpu_seconds = m.value;
  if (m.name == "tern_model_memory_bytes") model.memory_bytes = m.value;
  if (m.name == "nv_cache_num_hits_per_model") model.cache_hits = m.value;
  if (m.name == "nv_cache_num_misses_per_model") model.cache_misses = m.value;
  AddStage(m, model);
  if (StartsWith(m.name, "tern_request_duration_seconds")) AddHistogram(m, model);
  if (const char* phase = PhaseOfCounter(m.name); phase && model.phases[phase].count == 0)
    model.phases[phase].seconds = m.value * 1e-6;
}

// Returns the quantile q, in ms, of the durations that were added between two readings. Interpolates within
// the bucket that contains the quantile. Returns -1 if it is unknown.
double Quantile(const PhaseCount& before, const PhaseCount& now, double q) {
  const double total = now.count - before.count;
  if (total <= 0 || now.buckets.empty()) return -1;
  double low = 0, seen = 0;
  for (const auto& [bound, count] : now.buckets) {
    const auto old = before.buckets.find(bound);
    const double here = count - (old == before.buckets.end() ? 0 : old->second);
    if (here >= q * total) {
      if (std::isinf(bound)) return low * 1e3;
      const double share = here > seen ? (q * total - seen) / (here - seen) : 1;
      return (low + (bound - low) * share) * 1e3;
    }
    low = std::isinf(bound) ? low : bound;
    seen = here;
  }
  return low * 1e3;
}

const PhaseCount& PhaseOf(const ModelSample& model, const std::string& name) {
  static const auto* none = new PhaseCount();
  const auto found = model.phases.find(name);
  return found == model.phases.end() ? *none : found->second;
}

}  // namespace

std::vector<MetricSample> ParseMetrics(std::string_view text) {
  std::vector<MetricSample> samples;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.front() == '#') continue;
    MetricSample m;
    const size_t end = line.find_first_of("{ ");
    if (end == std::string_view::npos) continue;
    m.name = line.substr(0, end);
    line.remove_prefix(end);
    if (!TakeLabels(line, m.labels)) continue;
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    m.value = Number(line.substr(0, line.find(' ')));
    samples.push_back(std::move(m));
  }
  return samples;
}

std::map<std::pair<std::string, std::string>, ModelSample> SamplesOf(
    const std::vector<MetricSample>& metrics) {
  std::map<std::pair<std::string, std::string>, ModelSample> models;
  for (const MetricSample& m : metrics) {
    const std::string model = LabelOf(m, "model");
    if (!model.empty()) Add(m, models[{model, LabelOf(m, "version")}]);
  }
  return models;
}

ModelRates RatesOf(const ModelSample& before, const ModelSample& now, double seconds) {
  ModelRates r;
  const double requests = std::max(0.0, now.success - before.success);
  const double executions = now.executions - before.executions;
  r.requests = requests / seconds;
  r.failures = std::max(0.0, now.failure - before.failure) / seconds;
  r.inferences = std::max(0.0, now.inferences - before.inferences) / seconds;
  r.batch = executions > 0 ? (now.inferences - before.inferences) / executions : 0;
  r.cores = std::max(0.0, now.cpu_seconds - before.cpu_seconds) / seconds;
  r.pending = now.pending;
  r.bottleneck = now.bottleneck;
  r.bottleneck_ms = now.bottleneck_seconds * 1e3;
  r.bottleneck_usual_ms = now.bottleneck_usual_seconds * 1e3;
  const double hits = now.cache_hits - before.cache_hits;
  const double searches = hits + now.cache_misses - before.cache_misses;
  if (searches > 0) r.hit_share = hits / searches;
  for (const auto& [name, phase] : now.phases) {
    const PhaseCount& old = PhaseOf(before, name);
    const double count = phase.count - old.count > 0 ? phase.count - old.count : requests;
    const double ms = count > 0 ? (phase.seconds - old.seconds) / count * 1e3 : 0;
    if (name == "request")
      r.mean_ms = ms;
    else if (ms > r.slowest_ms)
      r.slowest_ms = ms, r.slowest = name;
  }
  r.p50_ms = Quantile(PhaseOf(before, "request"), PhaseOf(now, "request"), 0.5);
  r.p99_ms = Quantile(PhaseOf(before, "request"), PhaseOf(now, "request"), 0.99);
  return r;
}

}  // namespace tern::tools
