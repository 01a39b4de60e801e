// Parses tensors from JSON and from plain text.
#include <cstdlib>
#include <string_view>

#include "data/json_tensor.h"
#include "data/text.h"
#include "entry.h"

using namespace tern;

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (DType dtype : {DType::kF32, DType::kI4, DType::kString}) {
    const auto json = data::ParseJsonTensor(text, dtype);
    const auto plain = data::ParseText(text, dtype);
    for (const Status& s : {json.status(), plain.status()})
      if (s.code() == Code::kInternal) std::abort();
  }
  return 0;
}
