#include <cstdlib>
#include <string_view>

#include "data/post/labels.h"
#include "entry.h"

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const auto result = tern::data::ParseLabels({reinterpret_cast<const char*>(data), size});
  if (!result.ok() && result.status().code() == tern::Code::kInternal) std::abort();
  return 0;
}
