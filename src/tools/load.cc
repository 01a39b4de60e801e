// tern load: measures how a server of the v2 protocol answers under load.
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "data/file.h"
#include "data/json_writer.h"
#include "data/npy.h"
#include "tools/load_plot.h"
#include "tools/server_library.h"
#include "tools/shapes.h"
#include "tools/token.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

using server::LoadCommand;
using server::LoadReport;
using server::LoadStep;

std::atomic<bool> interrupted{false};
extern "C" void OnInterrupt(int) { interrupted = true; }

class LoadTool : public Tool {
 public:
  const char* name() const override { return "load"; }
  const char* summary() const override { return "load generator for any server of the v2 protocol"; }
  const char* examples() const override {
    return "  tern load localhost:8000 digits --concurrency 16 --seconds 10\n"
           "  tern load localhost:8001 digits --protocol grpc --rate 2000 --json\n"
           "  tern load localhost:8000 digits --steps 100,200,400,800 --seconds 5 --svg latency.svg\n"
           "\n"
           "A closed loop (--concurrency) sends a request when an answer arrives. An open loop (--rate, --steps)\n"
           "sends at random times, as independent clients do. Its latencies start at the moment at which a\n"
           "request was due, even if no connection was free then.\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Result<LoadCommand> Command(const Args& args) const;

  LoadCommand command_;
  std::string protocol_ = "http", shared_memory_ = "none", steps_, svg_;
  double rate_ = 0;
  int64_t concurrency_ = 1, connections_ = 256, dim_ = 1, seed_ = 1;
  std::vector<std::string> shapes_, inputs_;
  bool json_ = false;
};

void LoadTool::Declare(Args& args) {
  args.Positional("URL", command_.url, "address of the server: HOST:PORT");
  args.Positional("MODEL", command_.model, "the model's name");
  args.Option("--version", command_.version, "V", "version of the model (the latest)");
  args.Option("--token", command_.token, "TOKEN", "token of a server with access control (TERN_TOKEN)");
  args.Choice("--protocol", protocol_, {"http", "grpc"}, "protocol of the requests (http)");
  args.Option("--concurrency", concurrency_, "N", "closed loop: always keep N requests in flight (1)", 1,
              100000);
  args.Option("--rate", rate_, "R", "open loop: send R requests per second, at random times");
  args.Option("--steps", steps_, "R,R,…", "open loop: measure at several rates, one after the other");
  args.Option("--seconds", command_.seconds, "S", "measure each step for S seconds (10)");
  args.Option("--warmup", command_.warmup_seconds, "S",
              "send requests for S seconds before each step is measured (0.5)");
  args.Option("--connections", connections_, "N", "open loop: use at most N connections (256)", 1, 100000);
  args.Option("--timeout", command_.timeout_seconds, "S",
              "count a request without an answer after S seconds as an error (30)");
  args.Option("--input", inputs_, "NAME=FILE.npy",
              "read this input from a file (repeatable); inputs that are not given are random");
  args.Option("--shape", shapes_, "NAME=1x3x224x224", "set the dims of a random input (repeatable)");
  args.Option("--dim", dim_, "N", "size of open dims of random inputs (1)", 0, int64_t{1} << 40);
  args.Option("--random", seed_, "SEED", "seed of random inputs and sending times (1)");
  args.Choice("--shared-memory", shared_memory_, {"none", "system"},
              "send inputs in shared memory (system) or in the request (none)");
  args.Flag("--json-tensors", command_.json, "send tensors as JSON instead of binary data (HTTP only)");
  args.Option("--recorded", command_.recorded, "FILE",
              "send the requests of a file, one line of JSON each, as tern serve --payload-log writes them "
              "(HTTP only)");
  args.Option("--svg", svg_, "FILE", "write a plot of latency by percentile");
  args.Option("--goal", command_.goal_ms, "MS",
              "with --json: goodput counts only answers within MS milliseconds (all answers)");
  args.Flag("--json", json_, "print one JSON object");
}

Result<std::vector<double>> Rates(const std::string& text) {
  std::vector<double> rates;
  for (const std::string& item : SplitText(text, ',')) {
    double rate = 0;
    if (!ParseDouble(item, rate) || !(rate > 0) || rate > 1e7)
      return InvalidArgument("'", item, "' is not a rate above 0 and at most 10000000 requests per second");
    rates.push_back(rate);
  }
  return rates;
}

Result<LoadCommand> LoadTool::Command(const Args& args) const {
  LoadCommand c = command_;
  TERN_ASSIGN(c.token, TokenOr(command_.token));
  c.grpc = protocol_ == "grpc";
  c.concurrency = static_cast<int>(concurrency_);
  c.max_connections = static_cast<int>(connections_);
  c.shared_memory = shared_memory_ == "system";
  c.open_dim = dim_;
  c.seed = static_cast<uint64_t>(seed_);
  const int modes = args.Given("--concurrency") + args.Given("--rate") + args.Given("--steps");
  if (!c.recorded.empty() && (c.grpc || c.shared_memory || !shapes_.empty() || !inputs_.empty()))
    return InvalidArgument("--recorded excludes --protocol grpc, --shared-memory, --shape and --input");
  if (modes > 1) return InvalidArgument("only one of --concurrency, --rate and --steps may be given");
  if (args.Given("--rate")) {
    TERN_ASSIGN(c.rates, Rates(fmt::format("{}", rate_)));
  }
  if (args.Given("--steps")) {
    TERN_ASSIGN(c.rates, Rates(steps_));
  }
  if (!(c.seconds > 0 && c.seconds <= 1e6))
    return InvalidArgument("--seconds must be above 0 and at most 1000000, got ", c.seconds);
  if (!(c.warmup_seconds >= 0 && c.warmup_seconds <= 1e6))
    return InvalidArgument("--warmup must be from 0 to 1000000, got ", c.warmup_seconds);
  if (!(c.timeout_seconds > 0 && c.timeout_seconds <= 1e6))
    return InvalidArgument("--timeout must be above 0 and at most 1000000, got ", c.timeout_seconds);
  if (!(c.goal_ms >= 0 && c.goal_ms <= 1e9))
    return InvalidArgument("--goal must be from 0 to 1000000000, got ", c.goal_ms);
  for (const std::string& text : shapes_) {
    TERN_ASSIGN(const auto pair, SplitPair(text, "NAME=1x3x224x224"));
    TERN_ASSIGN(c.shapes[pair.first], ParseDims(pair.second));
  }
  for (const std::string& text : inputs_) {
    TERN_ASSIGN(const auto pair, SplitPair(text, "NAME=FILE.npy"));
    TERN_ASSIGN(c.inputs[pair.first], data::ReadNpy(pair.second));
  }
  return c;
}

void ShowProgress(const server::LoadProgress& p) {
  const double rate = p.seconds > 0 ? static_cast<double>(p.answers) / p.seconds : 0;
  fmt::print(stderr, "\r\x1b[K{:5.1f} s  {:>8} answers  {:>8.0f}/s  p50 {:.2f} ms  p99 {:.2f} ms  {} errors",
             std::max(0.0, p.seconds), p.answers, rate, p.p50_ms, p.p99_ms, p.errors);
  std::fflush(stderr);
}

void WriteStep(const LoadStep& s, data::JsonWriter& json) {
  if (s.rate > 0)
    json.Key("rate").Number(s.rate);
  else
    json.Key("concurrency").Int(s.concurrency);
  json.Key("seconds")
      .Number(s.seconds)
      .Key("requests")
      .Unsigned(s.requests)
      .Key("answers")
      .Unsigned(s.answers);
  json.Key("errors")
      .Unsigned(s.errors)
      .Key("refused")
      .Unsigned(s.refused)
      .Key("throughput")
      .Number(s.throughput);
  json.Key("goodput").Number(s.goodput).Key("refused_p99_ms").Number(static_cast<float>(s.refused_p99_ms));
  json.Key("latency_ms").BeginObject();
  const std::pair<const char*, double> values[] = {
      {"mean", s.mean_ms}, {"p50", s.p50_ms},   {"p90", s.p90_ms}, {"p95", s.p95_ms},
      {"p99", s.p99_ms},   {"p999", s.p999_ms}, {"max", s.max_ms}};
  for (const auto& [key, value] : values) json.Key(key).Number(static_cast<float>(value));
  json.EndObject().Key("messages").BeginObject();
  for (const auto& [text, count] : s.messages) json.Key(text).Unsigned(count);
  json.EndObject();
}

void PrintJson(const LoadReport& r) {
  data::JsonWriter json;
  json.BeginObject().Key("server").Text(r.server).Key("model").Text(r.model).Key("protocol").Text(r.protocol);
  json.Key("request_bytes").Unsigned(r.request_bytes);
  WriteStep(r.steps.back(), json);  // the top-level keys contain the figures of the last step
  if (r.steps.size() > 1) {
    json.Key("steps").BeginArray();
    for (const LoadStep& step : r.steps) {
      json.BeginObject();
      WriteStep(step, json);
      json.EndObject();
    }
    json.EndArray();
  }
  fmt::print("{}\n", json.EndObject().text());
}

void Print(const LoadReport& r) {
  fmt::print("{} at {} over {}, {} bytes a request\n", Printable(r.model), Printable(r.server), r.protocol,
             Thousands(static_cast<double>(r.request_bytes)));
  fmt::print("{:>12} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} ms\n", "load", "answers/s", "errors", "p50",
             "p90", "p95", "p99", "max");
  for (const LoadStep& s : r.steps) {
    const std::string load =
        s.rate > 0 ? fmt::format("{:g}/s", s.rate) : fmt::format("{} in flight", s.concurrency);
    fmt::print("{:>12} {:>10.1f} {:>8} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f}\n", load, s.throughput,
               s.errors, s.p50_ms, s.p90_ms, s.p95_ms, s.p99_ms, s.max_ms);
  }
  for (const LoadStep& s : r.steps)
    for (const auto& [text, count] : s.messages) fmt::print("  {} x {}\n", count, Printable(text));
}

Result<int> LoadTool::Run(const Args& args) {
  TERN_ASSIGN(LoadCommand command, Command(args));
  TERN_ASSIGN(const server::ServerLibrary* library, OpenServerLibrary());
  const bool live = !json_ && isatty(STDERR_FILENO);
  if (live) command.progress = ShowProgress;
  command.stop = [] { return interrupted.load(); };
  std::signal(SIGINT, OnInterrupt);  // Ctrl-C ends the test early, and the results so far are printed
  TERN_ASSIGN(const LoadReport report, library->load(command));
  if (live) fmt::print(stderr, "\r\x1b[K");
  if (!svg_.empty()) TERN_TRY(data::WriteFile(svg_, LoadPlot(report)));
  json_ ? PrintJson(report) : Print(report);
  return 0;
}

}  // namespace

TERN_TOOL(Load) { return std::make_unique<LoadTool>(); }

}  // namespace tern::tools
