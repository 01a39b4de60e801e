// Parses a tokenizer.json, encodes a fixed text with it, and decodes the ids.
#include <cstdlib>
#include <string_view>

#include "data/tokenizer/tokenizer.h"
#include "entry.h"

using namespace tern;

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  const auto tokenizer = data::Tokenizer::Parse({reinterpret_cast<const char*>(bytes), size});
  if (!tokenizer.ok()) {
    if (tokenizer.status().code() == Code::kInternal) std::abort();
    return 0;
  }
  const auto encoding =
      (*tokenizer)->EncodePair("The caf\u00e9, e\u0301 12 \u6f22 [MASK] a\tb\n", "\U0001f44d don't <s>");
  if (!encoding.ok()) {
    if (encoding.status().code() == Code::kInternal) std::abort();
    return 0;
  }
  for (const bool skip : {false, true})
    if ((*tokenizer)->Decode(encoding->ids, skip).status().code() == Code::kInternal) std::abort();
  return 0;
}
