#include "tools/engine.h"

#include "import/onnx/importer.h"
#include "ir/evaluate.h"

namespace tern::tools {

Result<std::unique_ptr<Graph>> LoadModel(const std::string& path) { return onnx::ImportFile(path); }

Result<Engine> Engine::Make(std::unique_ptr<Graph> graph, const EngineOptions&) { return Engine(std::move(graph)); }

Result<DatumList> Engine::Run(const DatumList& inputs) { return EvaluateGraph(*graph_, inputs); }

}  // namespace tern::tools
