// libtern_onnx: the ONNX importer as a library that libtern loads when it meets an ONNX model.
#include "bindings/cpp/load.h"
#include "import/onnx/importer.h"

extern "C" void tern_onnx_import(const char* path, const void* data, size_t size,
                                 tern::Result<std::unique_ptr<tern::Graph>>* result) {
  *result = path ? tern::onnx::ImportFile(path) : tern::onnx::ImportBytes(data, size);
}
