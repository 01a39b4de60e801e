// The template by which a model's messages become its prompt: a part of Jinja2, as transformers uses it.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "server/generate/template/value.h"

namespace tern::server {

// Immutable and thread-safe.
//
// Supported are the statements if, for (with a filter, else, break and continue), set (also of namespaces and
// of blocks), macro without defaults that refer to others, filter, and generation; expressions with the
// operators of Jinja2 except ** and chains of comparisons, slices and conditional expressions; the variable
// `loop`; the filters, tests, methods and functions that the guide lists (docs/guide/openai.md). Blocks are
// trimmed as with trim_blocks and lstrip_blocks.
class ChatTemplate {
 public:
  // Fails with kUnsupported and names the construct and the line if the template has something else.
  static Result<std::shared_ptr<const ChatTemplate>> Parse(std::string_view text);
  virtual ~ChatTemplate() = default;
  // `variables` is an object. Fails with kInvalidArgument if the template calls raise_exception or applies an
  // operation to values of a wrong type. The output and the number of steps are limited.
  virtual Result<std::string> Render(const TemplateValue& variables) const = 0;
};

}  // namespace tern::server
