// The filters, tests, methods and functions of templates.
#pragma once
#include "server/generate/template/syntax.h"

namespace tern::server {

// Evaluated arguments.
struct TemplateArguments {
  std::vector<TemplateValue> values;  // the first one is the value that is filtered, tested or called
  std::vector<std::pair<std::string, TemplateValue>> named;

  // Returns the argument at this position, counted without the first value. If there is none, returns the
  // argument with this name, or undefined.
  TemplateValue Get(size_t position, std::string_view name) const;
  bool Has(size_t position, std::string_view name) const { return !Get(position, name).undefined(); }
};

Result<TemplateValue> ApplyFilter(const std::string& name, const TemplateArguments& arguments);
Result<bool> ApplyTest(const std::string& name, const TemplateArguments& arguments);
Result<TemplateValue> CallMethod(const std::string& name, const TemplateArguments& arguments);
// The functions are range, namespace, dict, raise_exception and strftime_now. `arguments` has no first value.
Result<TemplateValue> CallFunction(const std::string& name, const TemplateArguments& arguments);

// Returns the code points of a text as strings.
ValueList CharactersOf(const std::string& text);
// Applies an operator other than `and`, `or` and `not`.
Result<TemplateValue> ApplyOperator(const std::string& op, const TemplateValue& a, const TemplateValue& b);
Result<TemplateValue> Subscript(const TemplateValue& value, const TemplateValue& index);
Result<TemplateValue> Slice(const TemplateValue& value, const TemplateValue& start, const TemplateValue& stop,
                            const TemplateValue& step);

// The largest text, and the largest list that an operation makes.
inline constexpr size_t kMaxTemplateText = size_t{16} << 20, kMaxTemplateList = 1'000'000;

}  // namespace tern::server
