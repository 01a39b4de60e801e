// The template that converts messages to the prompt of a model. It is written in a subset of Jinja2, as
// transformers uses it.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "server/generate/template/value.h"

namespace tern::server {

// Immutable and thread-safe.
//
// Supported are the statements if, for (with a filter, else, break and continue), set (also of namespaces and
// of blocks), macro (a default value must not refer to other parameters), filter, and generation; expressions
// with slices, conditional expressions and the operators of Jinja2, except ** and chains of comparisons; the
// variable `loop`; the filters, tests, methods and functions that the guide lists (docs/guide/openai.md).
// Blocks are trimmed as with trim_blocks and lstrip_blocks.
class ChatTemplate {
 public:
  // If the template has another construct, fails with kUnsupported. The message names the construct and the
  // line.
  static Result<std::shared_ptr<const ChatTemplate>> Parse(std::string_view text);
  virtual ~ChatTemplate() = default;
  // `variables` is an object. Fails with kInvalidArgument if the template calls raise_exception or applies an
  // operation to values of a wrong type. The output and the number of steps are limited.
  virtual Result<std::string> Render(const TemplateValue& variables) const = 0;
};

}  // namespace tern::server
