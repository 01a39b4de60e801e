#include <cstdlib>
#include <string_view>

#include "data/image/image.h"
#include "entry.h"

// The first bytes choose the format. The limit of pixels keeps the time of one input short.
int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const auto result =
      tern::data::DecodeImage({reinterpret_cast<const char*>(data), size}, {.max_pixels = 1 << 20});
  if (!result.ok() && result.status().code() == tern::Code::kInternal) std::abort();
  return 0;
}
