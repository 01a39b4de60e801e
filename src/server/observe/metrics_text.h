// Writes the text format of Prometheus, version 0.0.4.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/cache/response_cache.h"
#include "server/core/model_version.h"

namespace tern::server {

// For each metric, call Family once, then Sample or Histogram for each set of labels.
class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  // `type` is "counter", "gauge" or "histogram".
  void Family(std::string_view name, std::string_view type, std::string_view help);
  void Sample(std::string_view name, const Labels& labels, double value);
  void Sample(std::string_view name, const Labels& labels, uint64_t value);
  // Writes the buckets, sum and count of one histogram, in seconds.
  void Histogram(std::string_view name, const Labels& labels, const LatencyHistogram& histogram);
  std::string Take() { return std::move(out_); }

 private:
  void Name(std::string_view name, const Labels& labels);
  std::string out_;
};

// Returns the upper ends of the buckets of tern_request_duration_seconds.
const std::vector<double>& DurationBuckets();

MetricsText::Labels LabelsOf(const ModelVersion& version);  // the model, the version and its metric_tags

using Versions = std::vector<std::shared_ptr<ModelVersion>>;
// Appends Triton's metrics of models, the histograms of phases, processor time and memory per model, golden
// requests and the memory of changes, the processes of isolated models, and the values of back ends.
void AppendModelMetrics(const Versions& versions, MetricsText& text);
// Appends Triton's metrics of the cache, for the models that use it, and those of the cache as a whole.
void AppendCacheMetrics(const Versions& versions, const CacheFacts& facts, MetricsText& text);
// Appends metrics of models that generate text, if there are any.
void AppendGenerationMetrics(const Versions& versions, MetricsText& text);

}  // namespace tern::server
