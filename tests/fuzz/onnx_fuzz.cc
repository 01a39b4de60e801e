// Imports ONNX models from hostile bytes. The result must be an error or a valid graph.
#include <cstdlib>

#include "entry.h"
#include "import/onnx/importer.h"
#include "ir/verify.h"
#include "load/format.h"

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const auto bytes = tern::Buffer::Borrow(const_cast<uint8_t*>(data), size, nullptr);
  const tern::load::Format* format =
      tern::load::Formats().Find({"", bytes, false});  // every format inspects the bytes
  if (format && format->name.empty()) std::abort();
  auto graph = tern::onnx::ImportBytes(data, size);
  if (graph.ok() && !tern::VerifyGraph(**graph).ok()) std::abort();
  // A broken file must never be reported as an internal error.
  if (!graph.ok() && graph.status().code() == tern::Code::kInternal) std::abort();
  return 0;
}
