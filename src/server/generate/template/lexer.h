// Divides a template into text and the tokens of its tags.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::server {

struct TemplateToken {
  enum class Kind {
    kText,
    kOutput,
    kOutputEnd,
    kBlock,
    kBlockEnd,
    kName,
    kString,
    kInt,
    kFloat,
    kOperator,
    kEnd
  };
  Kind kind = Kind::kEnd;
  std::string text;  // without quotes and escapes
  int line = 1;
};

// Removes comments and the white space that the tags trim.
Result<std::vector<TemplateToken>> ReadTemplateTokens(std::string_view text);

}  // namespace tern::server
