// Parses graphs from hostile text. A graph that parses must print as text that parses to the same graph.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/ops.h"

using namespace tern;

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  InitOps();
  auto graph = ParseGraph({reinterpret_cast<const char*>(data), size});
  if (!graph.ok()) {
    if (graph.status().code() == Code::kInternal) std::abort();
    return 0;
  }
  if (!VerifyGraph(**graph).ok()) std::abort();
  const std::string text = PrintGraphExactly(**graph);
  auto again = ParseGraph(text);
  if (!again.ok() || PrintGraphExactly(**again) != text) std::abort();
  return 0;
}
