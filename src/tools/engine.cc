#include "tools/engine.h"

#include <cstdio>

#include "import/onnx/importer.h"
#include "ir/evaluate.h"
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

Result<Engine> Engine::Make(std::unique_ptr<Graph> graph, const EngineOptions&) { return Engine(std::move(graph)); }

Result<DatumList> Engine::Run(const DatumList& inputs) { return EvaluateGraph(*graph_, inputs); }

Status Engine::Bind(const DatumList& inputs) {
  bound_ = inputs;
  return {};
}

Status Engine::RunBound() { return Run(bound_).TakeStatus(); }

std::map<const Node*, std::string> Engine::Kernels() const {
  std::map<const Node*, std::string> out;
  for (const auto& node : graph_->nodes()) out[node.get()] = "reference";
  return out;
}

}  // namespace tern::tools
