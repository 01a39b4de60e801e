#include "import/common/text_nesting.h"

#include <algorithm>

namespace tern::import {

int NestingOf(std::string_view text) {
  int depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = text.find('\n', i);
      if (i == std::string_view::npos) break;
    } else if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c && text[i] != '\n'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '{' || c == '[' || c == '<') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']' || c == '>') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace tern::import
