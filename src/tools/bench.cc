// tern bench: measures how fast a model runs on this machine.
#include <fmt/core.h>

#include <numeric>

#include "base/cpu_info.h"
#include "base/thread_pool.h"
#include "data/json_writer.h"
#include "kernels/cpu/simd/active_isa.h"
#include "tools/bench_rounds.h"
#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/progress.h"
#include "tools/results.h"
#include "tools/shapes.h"
#include "tools/timing.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

struct Measured {
  std::vector<double> latencies;  // ms, sorted
  double load = 0, first = 0, mean = 0;
  int64_t before = 0, peak = 0;  // resident memory in bytes, before the model is loaded and at its peak
  int64_t batch = 1;
  size_t reference_nodes = 0;
  std::string precision;
  MemoryReport memory;
};

class BenchTool : public Tool {
 public:
  const char* name() const override { return "bench"; }
  const char* summary() const override { return "measure a model's latency, load time and memory"; }
  const char* examples() const override {
    return "  tern bench model.onnx\n"
           "  tern bench model.onnx --threads 1 --dim batch=8 --json\n"
           "  tern bench model.tern --runs 100 --warmup 10\n"
           "  echo 20 0.5 | tern bench model.onnx --rounds   # one round: 20 runs, at most half a second\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Status FirstRun(Engine& engine, const DatumList& inputs, Measured& m) const;
  Status Measure(Engine& engine, Measured& m) const;
  Result<int> AnswerRounds(Engine& engine, const Measured& m) const;
  void Print(const Measured& m, int threads) const;
  void PrintJson(const Measured& m, int threads) const;

  std::string model_, output_dir_;
  std::vector<std::string> inputs_;
  int64_t seed_ = 0, warmup_ = 3, runs_ = 0;
  double seconds_ = 2;
  bool json_ = false, rounds_ = false;
  ShapeOptions shapes_;
  EngineFlags engine_;
  ModelFlags model_flags_;
  SessionOptions options_;
};

void BenchTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  model_flags_.Declare(args);
  args.Option("--warmup", warmup_, "N", "run the model N times before measuring (3)", 0, 1'000'000);
  args.Option("--runs", runs_, "N",
              "number of measured runs; if N is 0, measure for --seconds, but at least 10 runs", 0,
              100'000'000);
  args.Option("--seconds", seconds_, "S", "measure for S seconds (2)");
  args.Option("--input", inputs_, "NAME=FILE",
              "read this input from a file (repeatable); inputs that are not given are random");
  args.Option("--random", seed_, "SEED", "seed of the random inputs (0)");
  shapes_.Declare(args);
  engine_.Declare(args);
  args.Option("--output-dir", output_dir_, "DIR", "write each output to DIR/<name>.npy");
  args.Flag("--rounds", rounds_,
            "for each line 'RUNS SECONDS' of standard input, measure and print one line of JSON");
  args.Flag("--json", json_, "print one JSON object");
}

Status BenchTool::FirstRun(Engine& engine, const DatumList& inputs, Measured& m) const {
  const Stopwatch first;
  TERN_TRY(engine.Bind(inputs));
  TERN_TRY(engine.RunBound());
  m.first = first.Milliseconds();
  for (const auto& [node, kernel] : engine.Kernels()) m.reference_nodes += kernel == "reference";
  if (output_dir_.empty()) return {};
  TERN_ASSIGN(const DatumList results, engine.Run(inputs));
  Destination outs{output_dir_, engine.graph().outputs()};
  NameFiles({&outs});
  return WriteData(outs, results, "npy").status();
}

Status BenchTool::Measure(Engine& engine, Measured& m) const {
  Progress progress("measuring");
  for (int64_t i = 0; i < warmup_; ++i) TERN_TRY(engine.RunBound());
  const Stopwatch all;
  const auto finished = [&] {
    const auto done = static_cast<int64_t>(m.latencies.size());
    return runs_ ? done >= runs_ : done >= 10 && all.Milliseconds() >= seconds_ * 1000;
  };
  while (!finished()) {
    const Stopwatch watch;
    TERN_TRY(engine.RunBound());
    m.latencies.push_back(watch.Milliseconds());
    progress.Show(runs_ ? static_cast<double>(m.latencies.size()) / static_cast<double>(runs_)
                        : all.Milliseconds() / (seconds_ * 1000));
  }
  m.mean =
      std::accumulate(m.latencies.begin(), m.latencies.end(), 0.0) / static_cast<double>(m.latencies.size());
  std::sort(m.latencies.begin(), m.latencies.end());
  m.peak = PeakMemory();
  m.memory = engine.Memory();
  m.precision = engine.Precision(options_);
  return {};
}

constexpr std::pair<const char*, double> kPercentiles[] = {
    {"min", 0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

void BenchTool::Print(const Measured& m, int threads) const {
  fmt::print("{}  {} threads, {}, {}\n", model_, threads, cpu::ActiveIsa(), m.precision);
  fmt::print("latency ms ");
  for (const auto& [name, p] : kPercentiles) fmt::print(" {} {:.3f}", name, Percentile(m.latencies, p));
  fmt::print("  mean {:.3f}  over {} runs\n", m.mean, m.latencies.size());
  fmt::print("throughput  {:.1f} runs/s", 1000 / m.mean);
  if (m.batch > 1)
    fmt::print(", {:.1f} items/s (batch {})", 1000 / m.mean * static_cast<double>(m.batch), m.batch);
  fmt::print(
      "\nload        {:.1f} ms, first run {:.1f} ms\npeak memory {:.1f} MB; weights packed {:.1f} MB, intermediate values {:.1f} MB\n",
      m.load, m.first, static_cast<double>(m.peak) / 1e6, static_cast<double>(m.memory.packed) / 1e6,
      static_cast<double>(m.memory.arena + m.memory.dynamic_peak) / 1e6);
}

void BenchTool::PrintJson(const Measured& m, int threads) const {
  data::JsonWriter json;
  json.BeginObject().Key("model").Text(model_).Key("latency_ms").BeginObject();
  for (const auto& [name, p] : kPercentiles) json.Key(name).Number(Rounded(Percentile(m.latencies, p)));
  json.Key("mean").Number(Rounded(m.mean)).EndObject();
  json.Key("throughput")
      .Number(Rounded(1000 / m.mean))
      .Key("batch")
      .Int(m.batch)
      .Key("runs")
      .Int(static_cast<int64_t>(m.latencies.size()));
  json.Key("load_ms").Number(Rounded(m.load)).Key("first_run_ms").Number(Rounded(m.first));
  json.Key("peak_rss_mb")
      .Number(Rounded(static_cast<double>(m.peak) / 1e6))
      .Key("arena_mb")
      .Number(Rounded(static_cast<double>(m.memory.arena) / 1e6))
      .Key("packed_mb")
      .Number(Rounded(static_cast<double>(m.memory.packed) / 1e6))
      .Key("threads")
      .Int(threads)
      .Key("isa")
      .Text(cpu::ActiveIsa())
      .Key("precision")
      .Text(m.precision);
  json.Key("reference_nodes").Int(static_cast<int64_t>(m.reference_nodes)).EndObject();
  fmt::print("{}\n", json.text());
}

Result<int> BenchTool::AnswerRounds(Engine& engine, const Measured& m) const {
  data::JsonWriter json;
  json.BeginObject().Key("load_ms").Number(Rounded(m.load)).Key("first_run_ms").Number(Rounded(m.first));
  json.Key("before_rss_mb").Number(Rounded(static_cast<double>(m.before) / 1e6));
  json.Key("reference_nodes").Int(static_cast<int64_t>(m.reference_nodes)).EndObject();
  fmt::print("{}\n", json.text());
  std::fflush(stdout);
  TERN_TRY(MeasureRounds(engine));
  return 0;
}

// Returns the first dim of the first input, which by convention is the batch size. Returns 1 if the
// rank of the input is below 2.
int64_t BatchOf(const DatumList& inputs) {
  return !inputs.empty() && inputs[0].is_tensor() && inputs[0].tensor.rank() > 1 ? inputs[0].tensor.dim(0)
                                                                                 : 1;
}

Result<int> BenchTool::Run(const Args& args) {
  if (!(seconds_ >= 0 && seconds_ <= 86400))
    return InvalidArgument("--seconds ", seconds_, " is not between 0 and 86400");
  TERN_ASSIGN(options_, engine_.Options(args));
  Measured m;
  m.before = ResidentMemory();
  if (rounds_)
    for (const std::string& input : inputs_)
      if (input == "-" || EndsWith(input, "=-"))
        return InvalidArgument("--input ", input, " reads standard input, but --rounds needs it");
  const Stopwatch load;
  TERN_ASSIGN(std::unique_ptr<Graph> graph,
              LoadModel(model_, model_flags_.Options(options_.threads), shapes_));
  const double load_ms = load.Milliseconds();
  TERN_TRY(shapes_.Apply(*graph));
  Feeds feeds;
  for (const std::string& input : inputs_) TERN_TRY(AddFeed(*graph, input, {}, feeds));
  TERN_TRY(CloseOpenDims(*graph, feeds));
  TERN_TRY(AddRandomFeeds(*graph, static_cast<uint64_t>(seed_), feeds));
  TERN_ASSIGN(const DatumList inputs, OrderFeeds(*graph, feeds));
  const Stopwatch make;
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(graph), options_));
  m.load = load_ms + make.Milliseconds();
  m.batch = BatchOf(inputs);
  const auto here = [&](Status status) {
    return std::move(status).While(StrCat("benchmarking '", model_, "'"));
  };
  TERN_TRY(here(FirstRun(engine, inputs, m)));
  if (rounds_) {
    engine.Warn();
    return AnswerRounds(engine, m);
  }
  TERN_TRY(here(Measure(engine, m)));
  engine.Warn();
  const int threads = Workers(options_.threads).threads();
  if (json_)
    PrintJson(m, threads);
  else
    Print(m, threads);
  return 0;
}

}  // namespace

TERN_TOOL(Bench) { return std::make_unique<BenchTool>(); }

}  // namespace tern::tools
