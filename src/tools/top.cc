// tern top: shows a live table of a server's models, which it reads from the server's metrics.
#include <fmt/core.h>
#include <unistd.h>

#include <thread>

#include "data/json_writer.h"
#include "tools/metrics_samples.h"
#include "tools/server_library.h"
#include "tools/token.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

using Clock = std::chrono::steady_clock;
using Models = std::map<std::pair<std::string, std::string>, ModelSample>;

class TopTool : public Tool {
 public:
  const char* name() const override { return "top"; }
  const char* summary() const override {
    return "live table of a server's models: rates, percentiles, bottlenecks";
  }
  const char* examples() const override {
    return "  tern top\n"
           "  tern top host:8002 --interval 5\n"
           "  tern top --once --json\n";
  }
  void Declare(Args& args) override {
    args.OptionalPositional("URL", url_, "address of the server's metrics: HOST:PORT (localhost:8002)");
    args.Option("--interval", interval_, "S", "seconds between two readings (1)");
    args.Option("--token", token_, "TOKEN", "token of a server with access control (TERN_TOKEN)");
    args.Flag("--once", once_, "print one table and exit");
    args.Flag("--json", json_, "print one JSON object per table");
  }
  Result<int> Run(const Args& args) override;

 private:
  std::string url_ = "localhost:8002", token_;
  double interval_ = 1;
  bool once_ = false, json_ = false;
};

struct Reading {
  Clock::time_point time;
  Models models;
  double utilization = -1, resident = 0, connections = 0;
};

Result<Reading> Read(const server::ServerLibrary& library, const std::string& url, const std::string& token) {
  TERN_ASSIGN(const std::string text, library.get(url, "/metrics", token));
  const std::vector<MetricSample> samples = ParseMetrics(text);
  Reading r{Clock::now(), SamplesOf(samples)};
  for (const MetricSample& m : samples) {
    if (m.name == "nv_cpu_utilization") r.utilization = m.value;
    if (m.name == "process_resident_memory_bytes") r.resident = m.value;
    if (m.name == "tern_connections") r.connections += m.value;
  }
  return r;
}

std::string Milliseconds(double ms) { return ms < 0 ? "-" : fmt::format("{:.3g}", ms); }

// Returns the stage that the server names. If the server names none, returns the slowest stage.
std::string Bottleneck(const ModelRates& r) {
  if (!r.bottleneck.empty())
    return fmt::format("{} {:.3g} ms (usually {:.3g})", Printable(r.bottleneck), r.bottleneck_ms,
                       r.bottleneck_usual_ms);
  return r.slowest.empty() ? "-" : fmt::format("slowest: {} {:.3g} ms", Printable(r.slowest), r.slowest_ms);
}

void PrintTable(const Reading& before, const Reading& now) {
  const double seconds = std::chrono::duration<double>(now.time - before.time).count();
  if (now.utilization >= 0)
    fmt::print("cpu {:.0f} %   memory {}B   connections {:.0f}\n", now.utilization * 100,
               Thousands(now.resident), now.connections);
  fmt::print("{:<24} {:>7} {:>9} {:>8} {:>6} {:>7} {:>8} {:>8} {:>8} {:>6} {:>6}  {}\n", "model", "version",
             "answers/s", "failed/s", "batch", "queued", "mean ms", "p50", "p99", "cores", "cached",
             "bottleneck");
  for (const auto& [key, sample] : now.models) {
    const auto old = before.models.find(key);
    const ModelRates r = RatesOf(old == before.models.end() ? ModelSample() : old->second, sample, seconds);
    fmt::print("{:<24} {:>7} {:>9.1f} {:>8.1f} {:>6.2f} {:>7.0f} {:>8.3g} {:>8} {:>8} {:>6.2f} {:>6}  {}\n",
               Printable(key.first), Printable(key.second), r.requests, r.failures, r.batch, r.pending,
               r.mean_ms, Milliseconds(r.p50_ms), Milliseconds(r.p99_ms), r.cores,
               r.hit_share < 0 ? "-" : fmt::format("{:.0f} %", r.hit_share * 100), Bottleneck(r));
  }
  std::fflush(stdout);
}

void WriteModel(const std::string& model, const std::string& version, const ModelRates& r,
                data::JsonWriter& json) {
  json.BeginObject()
      .Key("model")
      .Text(model)
      .Key("version")
      .Text(version)
      .Key("requests_per_s")
      .Number(r.requests);
  json.Key("failures_per_s").Number(r.failures).Key("inferences_per_s").Number(r.inferences);
  json.Key("mean_batch").Number(r.batch).Key("pending").Number(r.pending).Key("cores").Number(r.cores);
  json.Key("latency_ms").BeginObject().Key("mean").Number(r.mean_ms);
  if (r.p50_ms >= 0) json.Key("p50").Number(r.p50_ms).Key("p99").Number(r.p99_ms);
  json.EndObject();
  if (r.hit_share >= 0) json.Key("cache_hit_share").Number(r.hit_share);
  json.Key("bottleneck").Text(r.bottleneck).Key("bottleneck_ms").Number(r.bottleneck_ms);
  json.Key("bottleneck_usual_ms").Number(r.bottleneck_usual_ms);
  json.Key("slowest_phase").Text(r.slowest).Key("slowest_phase_ms").Number(r.slowest_ms).EndObject();
}

void PrintJson(const Reading& before, const Reading& now) {
  const double seconds = std::chrono::duration<double>(now.time - before.time).count();
  data::JsonWriter json;
  json.BeginObject().Key("seconds").Number(seconds).Key("cpu_utilization").Number(now.utilization);
  json.Key("resident_bytes").Number(now.resident).Key("connections").Number(now.connections);
  json.Key("models").BeginArray();
  for (const auto& [key, sample] : now.models) {
    const auto old = before.models.find(key);
    WriteModel(key.first, key.second,
               RatesOf(old == before.models.end() ? ModelSample() : old->second, sample, seconds), json);
  }
  fmt::print("{}\n", json.EndArray().EndObject().text());
  std::fflush(stdout);
}

Result<int> TopTool::Run(const Args&) {
  if (!(interval_ >= 0.1 && interval_ <= 3600))
    return InvalidArgument("--interval must be between 0.1 and 3600");
  TERN_ASSIGN(const server::ServerLibrary* library, OpenServerLibrary());
  TERN_ASSIGN(const std::string token, TokenOr(token_));
  TERN_ASSIGN(Reading before, Read(*library, url_, token));
  const bool clear = !json_ && !once_ && isatty(STDOUT_FILENO);
  do {
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_));
    TERN_ASSIGN(Reading now, Read(*library, url_, token));
    if (clear) fmt::print("\x1b[H\x1b[2J");
    json_ ? PrintJson(before, now) : PrintTable(before, now);
    before = std::move(now);
  } while (!once_ && !std::ferror(stdout));
  return 0;
}

}  // namespace

TERN_TOOL(Top) { return std::make_unique<TopTool>(); }

}  // namespace tern::tools
