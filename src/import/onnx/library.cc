// The entry point of libtern_onnx.so, the ONNX importer. Tern loads this library when it reads an ONNX model.
#include <filesystem>

#include "import/onnx/importer.h"
#include "import/onnx/operators.h"
#include "load/importer.h"

namespace tern::onnx {

// Returns the folder of the model's external data, or an empty string for a model in memory.
static std::string FolderOf(const std::string& path) {
  if (path.empty()) return {};
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? std::string(".") : parent.string();
}

static Result<std::unique_ptr<Graph>> Read(const load::Source& source, load::ReadContext& context) {
  const Workers workers(context.threads);
  return ImportBytes(source.bytes.data(), source.bytes.size(), FolderOf(source.path), &context.warnings,
                     workers);
}

}  // namespace tern::onnx

TERN_IMPORTER(tern::onnx::Read, tern::onnx::Operators)
