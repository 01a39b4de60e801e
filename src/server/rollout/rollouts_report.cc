// The part of Rollouts that reports: JSON for the API, and metrics.
#include "data/json_writer.h"
#include "server/observe/metrics_text.h"
#include "server/rollout/rollouts.h"

namespace tern::server {
namespace {

using Labels = MetricsText::Labels;

void WriteTest(const TestResult& test, data::JsonWriter& json) {
  json.BeginObject().Key("verdict").Text(VerdictName(test.verdict)).Key("limit").Number(test.limit);
  json.Key("observations").Unsigned(test.observations).Key("hits").Unsigned(test.hits);
  json.Key("evidence_bad").Number(test.evidence_bad).Key("needed_bad").Number(test.needed_bad);
  json.Key("evidence_good").Number(test.evidence_good).Key("needed_good").Number(test.needed_good);
  json.Key("text").Text(test.text).EndObject();
}

struct CounterRow {
  const char* name;
  const char* help;
  const char* source;  // value of a label; null: none
  std::atomic<uint64_t> VersionCounters::*value;
};

constexpr const char* kRequests = "tern_rollout_requests_total";
constexpr CounterRow kCounters[] = {
    {kRequests, "Requests that versions answered during rollouts", "client", &VersionCounters::live},
    {kRequests, "", "copy", &VersionCounters::mirrored},
    {kRequests, "", "control", &VersionCounters::control},
    {"tern_rollout_errors_total", "Requests that failed or hung during rollouts", nullptr,
     &VersionCounters::errors},
    {"tern_rollout_disagreements_total", "Copies whose outputs differ from the stable version's", nullptr,
     &VersionCounters::differ},
    {"tern_rollout_copies_dropped_total", "Copies that were not sent because too many copies or bytes waited",
     nullptr, &VersionCounters::dropped},
};

}  // namespace

Result<std::string> Rollouts::State(const std::string& model) {
  TERN_TRY(registry_.Find(model).status());
  const std::lock_guard lock(mutex_);
  return StateJson(model, entries_[model]);
}

std::string Rollouts::StateJson(const std::string& model, const Entry& entry) const {
  const Release& r = entry.release;
  data::JsonWriter json;
  json.BeginObject().Key("model").Text(model);
  json.Key("state").Text(!r.candidate.empty() ? "running" : r.pinned ? "pinned" : "idle");
  json.Key("stable").Text(r.stable).Key("candidate").Text(r.candidate).Key("labels").BeginObject();
  for (const auto& [label, version] : registry_.Labels(model)) json.Key(label).Text(version);
  json.EndObject().Key("existing").BeginArray();
  for (const std::string& version : entry.existing) json.Text(version);
  json.EndArray().Key("rejected");
  WriteRejected(r, json);
  json.Key("rollout");
  if (entry.running) {
    json.BeginObject().Key("step").Unsigned(r.step).Key("by_hand").Bool(r.weight.has_value());
    WriteTrial(*entry.running, json);
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("history");
  WriteHistory(r, json);
  json.Key("kept").Bool(!options_.state_file.empty() && save_error_.empty());
  if (!save_error_.empty()) json.Key("keep_error").Text("the state file cannot be written");
  return json.EndObject().Take();
}

void Rollouts::WriteTrial(const Running& running, data::JsonWriter& json) const {
  const TrialCounts counts = running.trial->Counts();
  json.Key("weight").Number(running.trial->weight());
  json.Key("requests").BeginObject().Key("stable").Unsigned(counts.stable_live);
  json.Key("candidate").Unsigned(counts.candidate_live).Key("copies").Unsigned(counts.mirrored).EndObject();
  json.Key("candidate_errors").Unsigned(counts.candidate_errors).Key("hung").Unsigned(counts.hung);
  json.Key("last_error").Text(counts.error).Key("last_difference").Text(counts.difference);
  json.Key("copy_bytes").Unsigned(running.mirror ? running.mirror->held_bytes() : 0);
  json.Key("tests").BeginObject();
  for (const TestResult& test : running.trial->Tests()) {
    json.Key(test.name);
    WriteTest(test, json);
  }
  json.EndObject().Key("policy");
  WritePolicy(running.trial->policy(), json);
}

void Rollouts::AppendMetrics(MetricsText& text) {
  const std::lock_guard lock(mutex_);
  text.Family("tern_rollout_weight", "gauge", "Share of requests that a version answers, in percent");
  for (const auto& [model, entry] : entries_) {
    const Release& r = entry.release;
    if (r.stable.empty()) continue;
    const double weight = entry.running ? entry.running->trial->weight() : 0;
    text.Sample("tern_rollout_weight", {{"model", model}, {"version", r.stable}}, 100 - weight);
    if (entry.running)
      text.Sample("tern_rollout_weight", {{"model", model}, {"version", r.candidate}}, weight);
  }
  const char* family = "";
  for (const CounterRow& row : kCounters) {
    if (std::string_view(family) != row.name) text.Family(row.name, "counter", row.help);
    family = row.name;
    for (const auto& [model, entry] : entries_)
      for (const auto& [version, counters] : entry.counters) {
        Labels labels{{"model", model}, {"version", version}};
        if (row.source) labels.emplace_back("source", row.source);
        text.Sample(row.name, labels, ((*counters).*row.value).load(std::memory_order_relaxed));
      }
  }
  text.Family("tern_rollout_evidence", "gauge",
              "Natural logarithm of a test's evidence, divided by what a decision needs");
  for (const auto& [model, entry] : entries_) {
    if (!entry.running) continue;
    for (const TestResult& test : entry.running->trial->Tests()) {
      const Labels labels{{"model", model}, {"version", entry.release.candidate}, {"test", test.name}};
      for (const auto& [side, value] : {std::pair("bad", test.evidence_bad / test.needed_bad),
                                        {"good", test.evidence_good / test.needed_good}}) {
        Labels all = labels;
        all.emplace_back("for", side);
        text.Sample("tern_rollout_evidence", all, value);
      }
    }
  }
  text.Family("tern_rollout_changes_total", "counter", "Decisions about rollouts, by kind");
  for (const auto& [model, entry] : entries_)
    for (const auto& [change, count] : entry.changes)
      text.Sample("tern_rollout_changes_total", {{"model", model}, {"change", change}}, count);
  text.Family("tern_rollout_state_kept", "gauge", "1 if the state of rollouts is in its file");
  text.Sample("tern_rollout_state_kept", {},
              uint64_t{!options_.state_file.empty() && save_error_.empty() ? 1u : 0u});
}

}  // namespace tern::server
