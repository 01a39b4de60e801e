#include <algorithm>
#include <iterator>

#include "data/tokenizer/pre_tokenizer.h"

namespace tern::data {
namespace {

struct Run {
  char32_t first;
  uint8_t script;
};
constexpr Run kRuns[] = {
#include "data/tokenizer/scripts.inc"
};

}  // namespace

uint8_t ScriptOf(char32_t c) {
  const Run* after = std::upper_bound(std::begin(kRuns), std::end(kRuns), c,
                                      [](char32_t value, const Run& run) { return value < run.first; });
  return (after - 1)->script;
}

}  // namespace tern::data
