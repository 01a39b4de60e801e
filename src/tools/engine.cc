#include "tools/engine.h"

#include <cstdio>

#include "import/onnx/importer.h"
#include "ir/tern_file.h"
#include "ops/ops.h"

namespace tern::tools {

bool IsTernFile(const std::string& path) {
  char start[sizeof kTernMagic];
  std::FILE* file = std::fopen(path.c_str(), "rb");
  const size_t n = file ? std::fread(start, 1, sizeof start, file) : 0;
  if (file) std::fclose(file);
  return LooksLikeTern(start, n);
}

Result<std::unique_ptr<Graph>> LoadModel(const std::string& path) {
  InitOps();
  return IsTernFile(path) ? LoadTern(path) : onnx::ImportFile(path);
}

Result<Engine> Engine::Make(std::unique_ptr<Graph> graph, const EngineOptions& options) {
  SessionOptions session_options;
  session_options.threads = options.threads;
  session_options.reference_only = options.reference;
  TERN_ASSIGN(std::unique_ptr<Session> session, Session::Create(std::move(graph), session_options));
  return Engine(std::move(session), options.reference);
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
  for (const StepInfo& step : steps) out[step.node] = step.kernel;
  return out;
}

void Engine::WarnOfFallbacks() const {
  std::map<std::string, int> ops;
  for (const Fallback& f : session_->Fallbacks()) ++ops[f.op];
  if (ops.empty() || reference_) return;
  std::string text;
  for (const auto& [op, count] : ops) text += StrCat(text.empty() ? "" : ", ", op, " ", count);
  std::fprintf(stderr, "tern: note: run by the slow reference evaluator: %s\n", text.c_str());
}

}  // namespace tern::tools
