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
  DeclareSignature(args);
}

void ModelFlags::DeclareSignature(Args& args) {
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

// Adds the precision of each product in the graph. `real` is the precision of products of floats.
static void AddPrecisions(const Graph& graph, const std::string& real, std::set<std::string>& found) {
  for (const auto& node : graph.nodes()) {
    for (const auto& body : node->subgraphs()) AddPrecisions(*body, real, found);
    if (!node->op->macs) continue;
    const std::string_view op = node->op->name;
    if (op == "MatMulNBits")
      found.insert(StrCat("int", BitWidth(node->input(1)->type.dtype), " weights"));
    else
      found.insert((op == "QConv" || op == "QMatMul") && BitWidth(node->input(0)->type.dtype) == 8 ? "int8"
                                                                                                   : real);
  }
}

std::string Engine::Precision(const SessionOptions& options) const {
  const std::string real = PrecisionInUse(options);
  std::set<std::string> found;
  AddPrecisions(graph(), real, found);
  std::string all;
  for (const char* first : {"int4 weights", "int8 weights", "int8"})
    if (found.erase(first)) all += StrCat(all.empty() ? "" : "+", first);
  for (const std::string& other : found) all += StrCat(all.empty() ? "" : "+", other);
  return all.empty() ? real : all;
}

void Engine::Warn() const {
  for (const std::string& text : session_->Warnings())
    std::fprintf(stderr, "tern: note: %s\n", Printable(text).c_str());
}

}  // namespace tern::tools
