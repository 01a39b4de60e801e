#include "server/observe/stage_watch.h"

#include <unistd.h>

#include <algorithm>

namespace tern::server {
namespace {

constexpr std::chrono::seconds kWindow{10};
constexpr std::chrono::milliseconds kStep{900};  // the caller's second may be a little short
constexpr uint64_t kLeastRequests = 5;
constexpr int kLeastLearned = 5, kMostLearned = 600;
constexpr double kGrowth = 0.25, kGrowthSeconds = 0.001, kShare = 0.5;

constexpr Phase kStages[] = {Phase::kParse,   Phase::kQueue,  Phase::kInput,
                             Phase::kCompute, Phase::kOutput, Phase::kCache};

double At(const std::array<double, kPhases>& values, Phase phase) {
  return values[static_cast<size_t>(phase)];
}

double Difference(uint64_t from, uint64_t to) { return to > from ? static_cast<double>(to - from) : 0; }

std::array<double, kPhases> Means(const StageTotals& from, const StageTotals& to) {
  std::array<double, kPhases> means{};
  const double requests = Difference(from.requests, to.requests);
  for (size_t i = 0; i < means.size() && requests > 0; ++i)
    means[i] = Difference(from.ns[i], to.ns[i]) * 1e-9 / requests;
  return means;
}

template <class Value> Phase Largest(Value&& value) {
  return *std::max_element(std::begin(kStages), std::end(kStages),
                           [&](Phase a, Phase b) { return value(a) < value(b); });
}

std::optional<Phase> BottleneckOf(const StageReport& report) {
  const double latency = At(report.mean, Phase::kRequest), usual = At(report.usual, Phase::kRequest);
  const double growth = latency - usual;
  if (report.has_usual && growth > kGrowthSeconds && growth > kGrowth * usual)
    return Largest([&](Phase p) { return At(report.mean, p) - At(report.usual, p); });
  const Phase largest = Largest([&](Phase p) { return At(report.mean, p); });
  if (latency > 0 && At(report.mean, largest) >= kShare * latency) return largest;
  return std::nullopt;
}

StageTotals TotalsOf(ModelVersion& version) {
  StageTotals totals;
  const ModelStatistics& statistics = version.statistics();
  // A request adds to its sums one after the other, so the count is read before them.
  totals.requests = statistics.histogram(Phase::kRequest).count();
  for (size_t i = 0; i < totals.ns.size(); ++i)
    totals.ns[i] = statistics.histogram(static_cast<Phase>(i)).sum_ns();
  totals.cpu_ns = version.statistics().Snapshot().cpu_ns;
  return totals;
}

bool HasStage(const ModelVersion& version, Phase stage) {
  return stage != Phase::kCache || version.config().response_cache;
}

}  // namespace

void StageHistory::Learn(const StageTotals& from, const StageTotals& to) {
  if (to.requests <= from.requests) return;
  learned_ = std::min(learned_ + 1, kMostLearned);
  const auto means = Means(from, to);
  for (size_t i = 0; i < means.size(); ++i) usual_[i] += (means[i] - usual_[i]) / learned_;
}

void StageHistory::Add(const StageTotals& totals, Clock::time_point now) {
  // The counts of another version with the same number start at 0.
  if (!samples_.empty() && totals.requests < samples_.back().totals.requests) *this = {};
  samples_.push_back({now, totals});
  while (samples_.size() > 2 && samples_[1].time <= now - kWindow) {
    Learn(samples_[0].totals, samples_[1].totals);
    samples_.pop_front();
  }
}

StageReport StageHistory::Report() const {
  StageReport report;
  if (samples_.size() < 2) return report;
  const StageTotals &from = samples_.front().totals, &to = samples_.back().totals;
  report.requests = to.requests - from.requests;
  report.usual = usual_;
  report.has_usual = learned_ >= kLeastLearned;
  if (report.requests < kLeastRequests) return report;
  report.mean = Means(from, to);
  report.bottleneck = BottleneckOf(report);
  const double cpu = Difference(from.cpu_ns, to.cpu_ns) * 1e-9;
  report.cpu_seconds = cpu / static_cast<double>(report.requests);
  const double busy = to.busy_seconds - from.busy_seconds;
  if (from.joules && to.joules && busy > 0)
    report.joules =
        (*to.joules - *from.joules) * std::min(1.0, cpu / busy) / static_cast<double>(report.requests);
  return report;
}

void StageWatch::Sample(const Versions& versions, std::optional<double> joules, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (now - last_ < kStep) return;
  last_ = now;
  const double busy = static_cast<double>(MachineTicks().busy) / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::map<std::pair<std::string, std::string>, StageHistory> kept;
  for (const auto& version : versions) {
    const std::pair key(version->config().name, version->version());
    StageHistory& history = kept[key] = std::move(histories_[key]);
    StageTotals totals = TotalsOf(*version);
    totals.joules = joules;
    totals.busy_seconds = busy;
    history.Add(totals, now);
  }
  histories_ = std::move(kept);
}

void StageWatch::Append(const Versions& versions, MetricsText& text) const {
  std::vector<std::pair<const ModelVersion*, StageReport>> rows;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& version : versions)
      if (const auto found = histories_.find({version->config().name, version->version()});
          found != histories_.end())
        rows.emplace_back(version.get(), found->second.Report());
  }
  const auto stages = [&](const char* name, const char* help, auto&& value) {
    text.Family(name, "gauge", help);
    for (const auto& [version, report] : rows)
      for (const Phase stage : kStages) {
        if (!HasStage(*version, stage)) continue;
        auto labels = LabelsOf(*version);
        labels.emplace_back("stage", PhaseName(stage));
        text.Sample(name, labels, double{value(report, stage)});
      }
  };
  stages("tern_bottleneck", "1 for the stage that determines the latency of the last 10 s",
         [](const StageReport& r, Phase p) { return r.bottleneck == p ? 1.0 : 0.0; });
  stages("tern_stage_seconds", "Mean time of a request in the stage, in the last 10 s",
         [](const StageReport& r, Phase p) { return At(r.mean, p); });
  stages("tern_stage_usual_seconds", "Mean time of a request in the stage, in the minutes before",
         [](const StageReport& r, Phase p) { return r.has_usual ? At(r.usual, p) : At(r.mean, p); });
  const auto per_request = [&](const char* name, const char* help, auto member) {
    bool first = true;
    for (const auto& [version, report] : rows)
      if (report.*member) {
        if (std::exchange(first, false)) text.Family(name, "gauge", help);
        text.Sample(name, LabelsOf(*version), *(report.*member));
      }
  };
  per_request("tern_cpu_seconds_per_request", "Processor time of a request's execution, in the last 10 s",
              &StageReport::cpu_seconds);
  per_request("tern_energy_joules_per_request",
              "Energy of the processors per request, by the share of processor time, in the last 10 s",
              &StageReport::joules);
}

}  // namespace tern::server
