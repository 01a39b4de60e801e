// Reads .tern files from hostile bytes. The target replaces the checksum of the header by the correct one,
// because otherwise the reader would reject nearly all inputs at once.
#include <cstdlib>
#include <cstring>

#include "entry.h"
#include "ir/tern_file.h"
#include "ir/tern_layout.h"
#include "ir/verify.h"
#include "ops/ops.h"

using namespace tern;

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  InitOps();
  Buffer bytes = Buffer::Allocate(size);
  std::memcpy(bytes.data(), data, size);
  TernPrefix prefix;
  if (size >= sizeof prefix) {
    std::memcpy(&prefix, data, sizeof prefix);
    const size_t rest = size - sizeof prefix;
    prefix.header_checksum =
        Checksum(data + sizeof prefix, prefix.header_size < rest ? prefix.header_size : rest);
    std::memcpy(bytes.data(), &prefix, sizeof prefix);
  }
  LoadOptions options;
  options.verify_up_to = 0;
  auto graph = LoadTernBytes(bytes, options);
  if (graph.ok() && !VerifyGraph(**graph).ok()) std::abort();
  if (!graph.ok() && graph.status().code() == Code::kInternal) std::abort();
  return 0;
}
