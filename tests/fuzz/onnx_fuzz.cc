// ONNX models from hostile bytes: an error or a graph that keeps its promises.
#include <cstdlib>

#include "entry.h"
#include "import/onnx/importer.h"
#include "ir/verify.h"

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  auto graph = tern::onnx::ImportBytes(data, size);
  if (graph.ok() && !tern::VerifyGraph(**graph).ok()) std::abort();
  // A broken file is the file's fault, never ours.
  if (!graph.ok() && graph.status().code() == tern::Code::kInternal) std::abort();
  return 0;
}
