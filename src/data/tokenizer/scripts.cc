#include <algorithm>
#include <iterator>

#include "data/tokenizer/pre_tokenizer.h"

namespace tern::data {
namespace {

struct ScriptRun {
  char32_t first;
  uint8_t script;
};
constexpr ScriptRun kScriptRuns[] = {
#include "data/tokenizer/scripts.inc"
};

}  // namespace

uint8_t ScriptOf(char32_t c) {
  const ScriptRun* after =
      std::upper_bound(std::begin(kScriptRuns), std::end(kScriptRuns), c,
                       [](char32_t value, const ScriptRun& run) { return value < run.first; });
  return (after - 1)->script;
}

}  // namespace tern::data
