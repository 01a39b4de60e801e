#include "tools/engine.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "generate/generate.h"
#include "load/load.h"
#include "tools/units.h"

namespace tern::tools {

// Prints the warnings about a model to stderr. Prints them only once per path, because a command may
// load a model several times.
static void Warn(const std::string& path, const std::vector<std::string>& texts) {
  constexpr size_t kShown = 10;
  static std::set<std::string> said;
  if (texts.empty() || !said.insert(path).second) return;
  for (size_t i = 0; i < std::min(texts.size(), kShown); ++i)
    std::fprintf(stderr, "tern: warning: '%s': %s\n", Printable(path).c_str(), Printable(texts[i]).c_str());
  if (texts.size() > kShown)
    std::fprintf(stderr, "tern: warning: %zu more warnings are not shown\n", texts.size() - kShown);
}

void ModelFlags::Declare(Args& args) {
  args.Option("--weights", weights_, "FILE",
              "the model's weights, for formats that keep them in a file of their own");
  args.Option("--signature", signature_, "NAME",
              "the signature to use, for formats with several (default: the model's default)");
}

load::LoadOptions ModelFlags::Options(int64_t threads) const {
  return {static_cast<int>(threads), weights_, signature_};
}

Result<std::unique_ptr<Graph>> LoadModel(const std::string& path, const load::LoadOptions& options) {
  InitGenerate();
  TERN_ASSIGN(load::Loaded loaded, load::LoadFile(path, options));
  Warn(path, loaded.warnings);
  return std::move(loaded.graph);
}

Result<std::unique_ptr<Graph>> LoadModel(const std::string& path, load::LoadOptions options,
                                         const ShapeOptions& shapes) {
  TERN_ASSIGN(auto types, shapes.InputTypes());
  options.input_types.merge(types);
  return LoadModel(path, options);
}

Result<Engine> Engine::Make(std::unique_ptr<Graph> graph, const SessionOptions& options) {
  TERN_ASSIGN(std::unique_ptr<Session> session, Session::Create(std::move(graph), options));
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
  for (const auto& node : graph().nodes())
    out[node.get()] = node->op->Is(kView) ? "view" : node->subgraphs().empty() ? "folded" : "inlined";
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
