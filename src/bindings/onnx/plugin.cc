// libtern_onnx: the ONNX importer as a library that libtern loads when it meets an ONNX model.
#include "bindings/cpp/load.h"
#include "import/onnx/importer.h"

extern "C" void tern_onnx_import_3(const char* path, const void* data, size_t size, int threads,
                                   std::vector<std::string>* warnings,
                                   tern::Result<std::unique_ptr<tern::Graph>>* result) {
  const tern::Workers workers(threads);
  *result = path ? tern::onnx::ImportFile(path, warnings, workers)
                 : tern::onnx::ImportBytes(data, size, "", warnings, workers);
}
