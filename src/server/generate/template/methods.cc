// Methods of strings and mappings, and functions.
#include <algorithm>
#include <ctime>

#include "server/generate/template/library.h"

namespace tern::server {
namespace {

using Arguments = TemplateArguments;
using Method = Result<TemplateValue> (*)(const std::string& text, const Arguments&);

constexpr std::string_view kSpaces = " \t\n\r\f\v";

std::string Strip(std::string_view text, std::string_view characters, bool left, bool right) {
  while (left && !text.empty() && characters.find(text.front()) != characters.npos) text.remove_prefix(1);
  while (right && !text.empty() && characters.find(text.back()) != characters.npos) text.remove_suffix(1);
  return std::string(text);
}

Result<TemplateValue> StripBy(const std::string& text, const Arguments& a, bool left, bool right) {
  const TemplateValue characters = a.Get(0, "chars");
  if (characters.undefined() || characters.null())
    return TemplateValue::Text(Strip(text, kSpaces, left, right));
  if (!characters.is_text()) return InvalidArgument("the characters to strip must be a string");
  return TemplateValue::Text(Strip(text, characters.text(), left, right));
}

Result<TemplateValue> Split(const std::string& text, const Arguments& a) {
  const TemplateValue separator = a.Get(0, "sep"), most = a.Get(1, "maxsplit");
  int64_t left = most.is_int() && most.integer() >= 0 ? most.integer() : INT64_MAX;
  ValueList out;
  size_t at = 0;
  if (separator.is_text()) {
    if (separator.text().empty()) return InvalidArgument("the separator of split is empty");
    for (size_t end; left > 0 && (end = text.find(separator.text(), at)) != text.npos; --left) {
      out.push_back(TemplateValue::Text(text.substr(at, end - at)));
      at = end + separator.text().size();
    }
    out.push_back(TemplateValue::Text(text.substr(at)));
  } else {
    while ((at = text.find_first_not_of(kSpaces, at)) != text.npos) {
      const size_t end = left-- > 0 ? text.find_first_of(kSpaces, at) : text.npos;
      out.push_back(TemplateValue::Text(text.substr(at, end == text.npos ? end : end - at)));
      if (end == text.npos) break;
      at = end;
    }
  }
  if (out.size() > kMaxTemplateList) return InvalidArgument("a list has too many elements");
  return TemplateValue::List(std::move(out));
}

// Returns whether the text starts or ends with the argument, or with one of a list.
Result<TemplateValue> Affix(const std::string& text, const Arguments& a, bool start) {
  const TemplateValue affix = a.Get(0, "prefix");
  const auto has = [&](const TemplateValue& v) {
    return v.is_text() && (start ? text.starts_with(v.text()) : text.ends_with(v.text()));
  };
  if (affix.is_list()) return TemplateValue::Bool(std::any_of(affix.list().begin(), affix.list().end(), has));
  if (!affix.is_text()) return InvalidArgument("startswith and endswith need a string");
  return TemplateValue::Bool(has(affix));
}

Result<TemplateValue> Replace(const std::string& text, const Arguments& a) {
  const TemplateValue from = a.Get(0, "old"), to = a.Get(1, "new"), most = a.Get(2, "count");
  if (!from.is_text() || !to.is_text()) return InvalidArgument("replace needs two strings");
  int64_t left = most.is_int() && most.integer() >= 0 ? most.integer() : INT64_MAX;
  if (from.text().empty()) return TemplateValue::Text(text);
  std::string out;
  size_t at = 0;
  for (size_t end; left > 0 && (end = text.find(from.text(), at)) != text.npos; --left) {
    out += text.substr(at, end - at) + to.text();
    at = end + from.text().size();
    if (out.size() > kMaxTemplateText) return InvalidArgument("a text has too many bytes");
  }
  return TemplateValue::Text(out + text.substr(at));
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

// Changes the case of ASCII letters. `starts` tells which letters begin a word, for title and capitalize.
Result<TemplateValue> Case(std::string text, bool upper, bool title, bool capitalize) {
  bool start = true;
  for (char& c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
    c = upper || ((title || capitalize) && start) ? Upper(c) : Lower(c);
    start = title && !letter;
  }
  return TemplateValue::Text(std::move(text));
}

struct TextMethod {
  const char* name;
  Method run;
};

constexpr TextMethod kTextMethods[] = {
    {"strip", [](const std::string& t, const Arguments& a) { return StripBy(t, a, true, true); }},
    {"lstrip", [](const std::string& t, const Arguments& a) { return StripBy(t, a, true, false); }},
    {"rstrip", [](const std::string& t, const Arguments& a) { return StripBy(t, a, false, true); }},
    {"split", Split},
    {"startswith", [](const std::string& t, const Arguments& a) { return Affix(t, a, true); }},
    {"endswith", [](const std::string& t, const Arguments& a) { return Affix(t, a, false); }},
    {"replace", Replace},
    {"upper", [](const std::string& t, const Arguments&) { return Case(t, true, false, false); }},
    {"lower", [](const std::string& t, const Arguments&) { return Case(t, false, false, false); }},
    {"title", [](const std::string& t, const Arguments&) { return Case(t, false, true, false); }},
    {"capitalize", [](const std::string& t, const Arguments&) { return Case(t, false, false, true); }},
};
constexpr std::string_view kObjectMethods[] = {"items", "keys", "values", "get"};
constexpr std::string_view kFunctions[] = {"range", "namespace", "dict", "raise_exception", "strftime_now"};

Result<TemplateValue> CallOnObject(const std::string& name, const Arguments& a) {
  const TemplateValue& object = a.values[0];
  if (name == "get") {
    const TemplateValue found =
        a.Get(0, "key").is_text() ? object.Member(a.Get(0, "key").text()) : TemplateValue();
    if (!found.undefined()) return found;
    return a.Has(1, "default") ? a.Get(1, "default") : TemplateValue::Null();
  }
  ValueList out;
  for (const auto& [key, member] : object.members()) {
    const TemplateValue text = TemplateValue::Text(key);
    out.push_back(name == "keys" ? text : name == "values" ? member : TemplateValue::List({text, member}));
  }
  return TemplateValue::List(std::move(out));
}

Result<TemplateValue> Range(const Arguments& a) {
  for (const TemplateValue& v : a.values)
    if (!v.is_int()) return InvalidArgument("range needs integers, got ", v.kind());
  if (a.values.empty() || a.values.size() > 3) return InvalidArgument("range needs one to three integers");
  const bool one = a.values.size() == 1;
  const int64_t begin = one ? 0 : a.values[0].integer(), end = a.values[one ? 0 : 1].integer();
  const int64_t step = a.values.size() == 3 ? a.values[2].integer() : 1;
  if (step == 0) return InvalidArgument("the step of range is 0");
  ValueList out;
  for (int64_t i = begin; step > 0 ? i < end : i > end;) {
    if (out.size() >= kMaxTemplateList) return InvalidArgument("range has too many elements");
    out.push_back(TemplateValue::Int(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return TemplateValue::List(std::move(out));
}

Result<TemplateValue> Now(const Arguments& a) {
  if (a.values.size() != 1 || !a.values[0].is_text() || a.values[0].text().size() > 256)
    return InvalidArgument("strftime_now needs a short format");
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[1024];
  return TemplateValue::Text(
      std::string(text, std::strftime(text, sizeof text, a.values[0].text().c_str(), &utc)));
}

}  // namespace

TemplateValue TemplateArguments::Get(size_t position, std::string_view name) const {
  if (position + 1 < values.size()) return values[position + 1];
  for (const auto& [key, value] : named)
    if (key == name) return value;
  return {};
}

bool IsTemplateMethod(std::string_view name) {
  return std::any_of(std::begin(kTextMethods), std::end(kTextMethods),
                     [&](const TextMethod& m) { return name == m.name; }) ||
         std::find(std::begin(kObjectMethods), std::end(kObjectMethods), name) != std::end(kObjectMethods);
}

bool IsTemplateFunction(std::string_view name) {
  return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

Result<TemplateValue> CallMethod(const std::string& name, const TemplateArguments& a) {
  const TemplateValue& value = a.values[0];
  const bool of_object =
      std::find(std::begin(kObjectMethods), std::end(kObjectMethods), name) != std::end(kObjectMethods);
  if (value.is_object() && of_object) return CallOnObject(name, a);
  if (value.is_text())
    for (const TextMethod& method : kTextMethods)
      if (name == method.name) return method.run(value.text(), a);
  return InvalidArgument("a value of kind ", value.kind(), " has no method '", name, "'");
}

Result<TemplateValue> CallFunction(const std::string& name, const TemplateArguments& a) {
  if (name == "range") return Range(a);
  if (name == "strftime_now") return Now(a);
  if (name == "raise_exception")
    return InvalidArgument(a.values.empty() ? std::string("the template raises an exception")
                                            : a.values[0].ToText());
  TemplateValue out = TemplateValue::Object();  // namespace and dict
  for (const TemplateValue& from : a.values) {
    if (!from.is_object()) return InvalidArgument(name, " needs a mapping, got ", from.kind());
    for (const auto& [key, member] : from.members()) out.Set(key, member);
  }
  for (const auto& [key, member] : a.named) out.Set(key, member);
  return out;
}

}  // namespace tern::server
