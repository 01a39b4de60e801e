// Writes metrics of models that generate text, named like those of vLLM.
#include <algorithm>

#include "server/generate/generator.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

struct GeneratorRow {
  MetricsText::Labels labels;
  TextGenerator* generator;
};

std::vector<GeneratorRow> GeneratorRows(const Versions& versions) {
  std::vector<GeneratorRow> rows;
  for (const auto& version : versions) {
    if (!version->generator()) continue;
    GeneratorRow row{{{"model", version->config().name}, {"version", version->version()}},
                     version->generator()};
    for (const auto& [key, value] : version->config().metric_tags) row.labels.emplace_back(key, value);
    rows.push_back(std::move(row));
  }
  return rows;
}

template <class F>
void AppendAll(const std::vector<GeneratorRow>& rows, const char* name, const char* type, const char* help,
               MetricsText& text, F&& value) {
  text.Family(name, type, help);
  for (const GeneratorRow& row : rows) text.Sample(name, row.labels, value(*row.generator));
}

uint64_t Count(int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(0, value)); }

void AppendHistogram(const std::vector<GeneratorRow>& rows, const char* name, const char* help,
                     LatencyHistogram GenerationStatistics::*histogram, MetricsText& text) {
  text.Family(name, "histogram", help);
  for (const GeneratorRow& row : rows)
    text.Histogram(name, row.labels, row.generator->generated().*histogram);
}

void AppendEnds(const std::vector<GeneratorRow>& rows, MetricsText& text) {
  constexpr const char* kEnded = "tern_sequences_ended_total";
  text.Family(kEnded, "counter", "Sequences that ended, by reason");
  for (const GeneratorRow& row : rows)
    for (int i = 0; i < kGenerationEnds; ++i) {
      MetricsText::Labels labels = row.labels;
      labels.emplace_back("finished_reason", kGenerationEndNames[i]);
      text.Sample(kEnded, labels, row.generator->generated().ended[static_cast<size_t>(i)].load());
    }
}

}  // namespace

void AppendGenerationMetrics(const Versions& versions, MetricsText& text) {
  const std::vector<GeneratorRow> rows = GeneratorRows(versions);
  if (rows.empty()) return;
  using Generator = TextGenerator;
  AppendAll(rows, "tern_num_requests_running", "gauge", "Sequences that are being generated", text,
            [](const Generator& g) { return Count(g.running()); });
  AppendAll(rows, "tern_num_requests_waiting", "gauge", "Sequences that wait for a place in the batch", text,
            [](const Generator& g) { return Count(g.waiting()); });
  AppendAll(rows, "tern_kv_cache_usage_perc", "gauge", "Positions of the cache in use, 0 to 1", text,
            [](const Generator& g) { return g.cache_usage(); });
  AppendAll(rows, "tern_prompt_tokens_total", "counter", "Tokens of prompts that were read", text,
            [](const Generator& g) { return g.generated().prompt_tokens.load(); });
  AppendAll(rows, "tern_generation_tokens_total", "counter", "Tokens that were generated", text,
            [](const Generator& g) { return g.generated().generated_tokens.load(); });
  AppendAll(rows, "tern_decode_steps_total", "counter", "Executions that made one token per sequence", text,
            [](const Generator& g) { return g.generated().steps.load(); });
  AppendAll(rows, "tern_decode_rows_total", "counter", "Sequences of these executions, summed", text,
            [](const Generator& g) { return g.generated().step_rows.load(); });
  AppendEnds(rows, text);
  AppendHistogram(rows, "tern_time_to_first_token_seconds", "From a request to its first token",
                  &GenerationStatistics::first_token, text);
  AppendHistogram(rows, "tern_inter_token_latency_seconds", "Between two tokens of a sequence",
                  &GenerationStatistics::between_tokens, text);
  AppendHistogram(rows, "tern_e2e_request_latency_seconds", "From a request to its last token",
                  &GenerationStatistics::whole, text);
  AppendHistogram(rows, "tern_request_queue_time_seconds", "From a request to the start of its prompt",
                  &GenerationStatistics::queue, text);
}

}  // namespace tern::server
