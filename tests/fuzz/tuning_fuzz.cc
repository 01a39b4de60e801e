// Parses records of measured kernel times.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "runtime/tune/record.h"

using namespace tern;

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  const RecordKey key{"cpu", "avx2", 1};
  const RecordLines read = ParseRecord({reinterpret_cast<const char*>(bytes), size}, key);
  const std::string text = FormatRecord({}, read, key);
  if (FormatRecord({}, ParseRecord(text, key), key) != text) std::abort();
  for (const auto& [node, times] : read)
    if (!Recordable(node) || times.size() < 2) std::abort();
  return 0;
}
