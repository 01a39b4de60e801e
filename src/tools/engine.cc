#include "tools/engine.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "load/load.h"
#include "ops/ops.h"
#include "tools/units.h"

namespace tern::tools {

// Each once: a command may load a model more than once.
static void Warn(const std::string& path, const std::vector<std::string>& texts) {
  constexpr size_t kShown = 10;
  static std::set<std::string> said;
  if (texts.empty() || !said.insert(path).second) return;
  for (size_t i = 0; i < std::min(texts.size(), kShown); ++i)
    std::fprintf(stderr, "tern: warning: '%s': %s\n", Printable(path).c_str(), Printable(texts[i]).c_str());
  if (texts.size() > kShown)
    std::fprintf(stderr, "tern: warning: and %zu more of the kind\n", texts.size() - kShown);
}

Result<std::unique_ptr<Graph>> LoadModel(const std::string& path, int64_t threads) {
  InitOps();
  TERN_ASSIGN(load::Loaded loaded, load::LoadFile(path, static_cast<int>(threads)));
  Warn(path, loaded.warnings);
  return std::move(loaded.graph);
}

void LevelOption::Declare(Args& args) {
  args.Choice("--level", name, {"none", "basic", "extended", "layout"},
              "how far to optimize the model before it runs (layout)");
}

void PrecisionOption::Declare(Args& args) {
  args.Choice(
      "--precision", name, {"fp32", "bf16", "auto"},
      "of products with constant weights and of attention (fp32); auto: bf16 where the processor is made for it");
}

void TuneOption::Declare(Args& args) {
  args.Option("--tune", ms, "MS",
              "milliseconds for measuring which kernels are the fastest (0); what is found is kept on disk",
              0, kMostTuneMs);
  args.Option(
      "--cache-dir", folder, "DIR",
      "where measurements are kept (TERN_CACHE_DIR, XDG_CACHE_HOME/tern, ~/.cache/tern); \"\": nowhere");
}

void TuneOption::Apply(const Args& args, EngineOptions& options) const {
  options.tune_ms = ms;
  if (args.Given("--cache-dir")) options.cache_dir = folder;
}

Status CheckOptions(const EngineOptions& options) {
  if (!options.reference) return {};
  const bool folder = options.cache_dir && !options.cache_dir->empty();
  if (options.tune_ms || folder)
    return InvalidArgument(options.tune_ms ? "--tune" : "--cache-dir",
                           " and --reference exclude each other: the reference evaluator has no kernels");
  if (options.precision == Precision::kBf16)
    return InvalidArgument(
        "--precision bf16 and --reference exclude each other: the reference evaluator computes "
        "as the model says");
  return {};
}

Result<Engine> Engine::Make(std::unique_ptr<Graph> graph, const EngineOptions& options) {
  TERN_TRY(CheckOptions(options));
  SessionOptions session_options;
  session_options.threads = options.threads;
  session_options.reference_only = options.reference;
  session_options.level = options.level;
  session_options.precision = options.precision;
  session_options.tune_ms = options.tune_ms;
  session_options.tune_within = options.tune_within;
  session_options.cache_dir = options.cache_dir;
  session_options.explain = options.explain;
  TERN_ASSIGN(std::unique_ptr<Session> session, Session::Create(std::move(graph), session_options));
  return Engine(std::move(session));
}

Status Engine::Bind(const DatumList& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) TERN_TRY(session_->BindInput(static_cast<int>(i), inputs[i]));
  return {};
}

std::map<const Node*, std::string> Engine::Kernels() const {
  std::map<const Node*, std::string> out;
  const std::vector<StepInfo> steps = session_->Steps();
  if (steps.empty()) return out;
  for (const auto& node : graph().nodes()) out[node.get()] = node->op->Is(kView) ? "view" : "folded";
  for (const StepInfo& step : steps) {
    out[step.node] = step.kernel;
    if (step.next) out[step.next] = "in " + step.kernel;
  }
  return out;
}

void Engine::Warn() const {
  for (const std::string& text : session_->Warnings())
    std::fprintf(stderr, "tern: note: %s\n", Printable(text).c_str());
}

}  // namespace tern::tools
