// tern profile: measures the time per node of a model.
#include <fmt/core.h>

#include <algorithm>

#include "data/file.h"
#include "kernels/cpu/peak/bandwidth.h"
#include "kernels/cpu/peak/peak.h"
#include "kernels/cpu/simd/active_isa.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/simd/simd.h"
#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/profile_report.h"
#include "tools/progress.h"
#include "tools/shapes.h"
#include "tools/timing.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

// A value for tune_within. With it, all kernels are measured, also those whose estimated time is much longer
// than the shortest estimate.
constexpr double kEverything = 1e30;

class ProfileTool : public Tool {
 public:
  const char* name() const override { return "profile"; }
  const char* summary() const override {
    return "measure the time per node, compared with this machine's peak";
  }
  const char* examples() const override {
    return "  tern profile model.onnx --threads 1\n"
           "  tern profile model.onnx --html profile.html --trace trace.json   # open in ui.perfetto.dev\n"
           "  tern profile model.tern --dim batch=8 --json\n"
           "  tern profile model.onnx --explain --tune 2000    # all candidate kernels and their times\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  Status LimitIsa() const;
  Result<Engine> MakeEngine(DatumList& inputs) const;
  Status Measure(Engine& engine, ProfileObserver& observer) const;
  MachinePeak PeakOf(const Workers& workers) const;
  Status Write(const Profile& profile, const ProfileObserver& observer) const;

  std::string model_, html_, trace_;
  std::vector<std::string> inputs_;
  int64_t seed_ = 0, runs_ = 0, max_rows_ = 40;
  double seconds_ = 1;
  std::string isa_ = "best";
  bool json_ = false, explain_ = false, tune_all_ = false;
  ShapeOptions shapes_;
  EngineFlags engine_;
  ModelFlags model_flags_;
  SessionOptions options_;
};

void ProfileTool::Declare(Args& args) {
  args.Positional("MODEL", model_, ModelHelp());
  model_flags_.Declare(args);
  args.Option("--runs", runs_, "N",
              "number of measured runs; if N is 0, measure for --seconds, but at least 5 runs", 0, 1'000'000);
  args.Option("--seconds", seconds_, "S", "measure for S seconds (1)");
  args.Option("--top", max_rows_, "N", "print only the N slowest nodes (40); 0 means all", 0, 1'000'000);
  args.Option("--input", inputs_, "NAME=FILE",
              "read this input from a file (repeatable); inputs that are not given are random");
  args.Option("--random", seed_, "SEED", "seed of the random inputs (0)");
  shapes_.Declare(args);
  engine_.Declare(args, EngineFlags::kAll & ~EngineFlags::kReference);
  args.Choice("--isa", isa_, {"best", "base", "sse4", "avx2", "avx512", "amx"},
              "the highest instruction set to use (best)");
  args.Flag("--tune-all", tune_all_, "measure every kernel, not only those with good estimates");
  args.Flag("--explain", explain_, "list the candidate kernels of each node, and why its kernel was chosen");
  args.Option("--html", html_, "FILE", "write a page with the roofline and all nodes");
  args.Option("--trace", trace_, "FILE", "write one run as a Chrome trace");
  args.Flag("--json", json_, "print one JSON object");
}

Status ProfileTool::LimitIsa() const {
  if (isa_ == "best") return {};
  if (isa_ == "amx" && !cpu::HasAmx()) return Unsupported("--isa amx: this machine has no AMX");
  cpu::LimitAmx(isa_ == "amx" ? cpu::AmxMode::kOn : cpu::AmxMode::kOff);
  const cpu::SimdLevel level = isa_ == "avx512" || isa_ == "amx" ? cpu::SimdLevel::kAvx512
                               : isa_ == "avx2"                  ? cpu::SimdLevel::kAvx2
                               : isa_ == "sse4"                  ? cpu::SimdLevel::kSse4
                                                                 : cpu::SimdLevel::kBase;
  if (level > cpu::BestSimd())
    return Unsupported("--isa ", isa_, ": this machine has only ", cpu::NameOf(cpu::BestSimd()));
  cpu::LimitSimd(level);
  return {};
}

Result<Engine> ProfileTool::MakeEngine(DatumList& inputs) const {
  TERN_ASSIGN(std::unique_ptr<Graph> graph,
              LoadModel(model_, model_flags_.Options(options_.threads), shapes_));
  TERN_TRY(shapes_.Apply(*graph));
  Feeds feeds;
  for (const std::string& input : inputs_) TERN_TRY(AddFeed(*graph, input, {}, feeds));
  TERN_TRY(CloseOpenDims(*graph, feeds));
  TERN_TRY(AddRandomFeeds(*graph, static_cast<uint64_t>(seed_), feeds));
  TERN_ASSIGN(inputs, OrderFeeds(*graph, feeds));
  return Engine::Make(std::move(graph), options_);
}

Status ProfileTool::Measure(Engine& engine, ProfileObserver& observer) const {
  constexpr int64_t kMinRuns = 5;
  TERN_TRY(engine.RunBound());
  TERN_TRY(engine.RunBound());
  engine.SetObserver(&observer);
  Progress progress("measuring");
  const Stopwatch all;
  for (int64_t done = 0; runs_ ? done < runs_ : done < kMinRuns || all.Milliseconds() < seconds_ * 1000;
       ++done) {
    observer.StartRun();
    TERN_TRY(engine.RunBound());
    progress.Show(runs_ ? static_cast<double>(done) / static_cast<double>(runs_)
                        : std::min(1.0, all.Milliseconds() / (seconds_ * 1000)));
  }
  engine.SetObserver(nullptr);
  return {};
}

Status ProfileTool::Write(const Profile& profile, const ProfileObserver& observer) const {
  if (!html_.empty()) TERN_TRY(data::WriteFile(html_, ProfilePage(model_, profile)));
  if (!trace_.empty()) TERN_TRY(data::WriteFile(trace_, ChromeTrace(observer.last_run())));
  return {};
}

MachinePeak ProfileTool::PeakOf(const Workers& workers) const {
  const cpu::PeakRate rate = cpu::MeasurePeak(workers);
  const bool bf16 = UsesBf16(options_.precision) && rate.best_bf16() > 0;
  return {rate.f32 * 1e9, bf16 ? rate.best_bf16() * 1e9 : 0, cpu::ReadBandwidth(workers)};
}

// Measures the machine's peak before and after the runs and uses the higher value. Other programs may have
// slowed down one of the measurements.
Result<int> ProfileTool::Run(const Args& args) {
  if (!(seconds_ >= 0 && seconds_ <= 86400))
    return InvalidArgument("--seconds ", seconds_, " is not between 0 and 86400");
  if (tune_all_ && !args.Given("--tune"))
    return InvalidArgument("--tune-all needs --tune MS, the time for measuring kernels");
  TERN_ASSIGN(options_, engine_.Options(args));
  options_.explain = explain_;
  if (tune_all_) options_.tune_within = kEverything;
  TERN_TRY(LimitIsa());
  DatumList inputs;
  TERN_ASSIGN(Engine engine, MakeEngine(inputs));
  TERN_TRY(engine.Bind(inputs));
  const Workers workers(options_.threads);
  const MachinePeak before = PeakOf(workers);
  ProfileObserver observer;
  TERN_TRY(Measure(engine, observer).While(StrCat("profiling '", model_, "'")));
  const MachinePeak after = PeakOf(workers);
  const MachinePeak peak{std::max(before.flops, after.flops), std::max(before.bf16_flops, after.bf16_flops),
                         std::max(before.bytes, after.bytes)};
  Profile profile = observer.Take(peak, workers.threads());
  profile.isa = cpu::ActiveIsa(), profile.precision = engine.Precision(options_);
  TERN_TRY(Write(profile, observer));
  const Explanation explanation{engine.Choices(), engine.Tuning()};
  fmt::print("{}\n", json_ ? ProfileJson(model_, profile, explain_ ? &explanation : nullptr)
                           : ProfileTable(profile, max_rows_));
  if (explain_ && !json_) fmt::print("{}\n", ExplainText(explanation));
  engine.Warn();
  return 0;
}

}  // namespace

TERN_TOOL(Profile) { return std::make_unique<ProfileTool>(); }

}  // namespace tern::tools
