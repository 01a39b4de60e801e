// Operators, subscripts and slices, as in Python.
#include <algorithm>
#include <cmath>

#include "data/utf8.h"
#include "server/generate/template/library.h"

namespace tern::server {
namespace {

Status Wrong(const std::string& op, const TemplateValue& a, const TemplateValue& b) {
  return InvalidArgument("the operator ", op, " cannot be applied to ", a.kind(), " and ", b.kind());
}

Result<TemplateValue> Arithmetic(const std::string& op, const TemplateValue& a, const TemplateValue& b) {
  const bool whole = !a.is_float() && !b.is_float() && op != "/";
  if ((op == "/" || op == "//" || op == "%") && b.number() == 0) return InvalidArgument("division by zero");
  if (!whole) {
    const double x = a.number(), y = b.number();
    if (op == "+") return TemplateValue::Float(x + y);
    if (op == "-") return TemplateValue::Float(x - y);
    if (op == "*") return TemplateValue::Float(x * y);
    if (op == "/") return TemplateValue::Float(x / y);
    if (op == "//") return TemplateValue::Float(std::floor(x / y));
    return TemplateValue::Float(x - std::floor(x / y) * y);
  }
  const int64_t x = a.integer(), y = b.integer();
  int64_t out = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(x, y, &out);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(x, y, &out);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(x, y, &out);
  } else if (y == -1) {
    overflow = op == "//" && __builtin_sub_overflow(int64_t{0}, x, &out);
  } else {
    const int64_t rest = x % y, carry = rest != 0 && (rest < 0) != (y < 0) ? 1 : 0;
    out = op == "//" ? x / y - carry : rest + carry * y;
  }
  if (overflow) return InvalidArgument("the result of ", x, " ", op, " ", y, " is out of range");
  return TemplateValue::Int(out);
}

Result<TemplateValue> Joined(const std::string& a, const std::string& b) {
  if (a.size() + b.size() > kMaxTemplateText)
    return InvalidArgument("a text has more than ", kMaxTemplateText, " bytes");
  return TemplateValue::Text(a + b);
}

Result<TemplateValue> Repeated(const std::string& text, int64_t count) {
  std::string out;
  if (count > 0 &&
      text.size() * static_cast<uint64_t>(std::min<int64_t>(count, int64_t{1} << 30)) > kMaxTemplateText)
    return InvalidArgument("a text has more than ", kMaxTemplateText, " bytes");
  for (int64_t i = 0; i < count && !text.empty(); ++i) out += text;
  return TemplateValue::Text(std::move(out));
}

Result<bool> Contains(const TemplateValue& a, const TemplateValue& b) {
  if (b.is_text() && a.is_text()) return b.text().find(a.text()) != std::string::npos;
  if (b.is_list())
    return std::any_of(b.list().begin(), b.list().end(), [&](const TemplateValue& v) { return v.Equals(a); });
  if (b.is_object()) return a.is_text() && !b.Member(a.text()).undefined();
  if (b.undefined()) return false;
  return Wrong("in", a, b);
}

Result<bool> Less(const std::string& op, const TemplateValue& a, const TemplateValue& b) {
  if (a.is_number() && b.is_number()) return a.number() < b.number();
  if (a.is_text() && b.is_text()) return a.text() < b.text();
  return Wrong(op, a, b);
}

}  // namespace

ValueList CharactersOf(const std::string& text) {
  ValueList out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    out.push_back(TemplateValue::Text(text.substr(i, end - i)));
    i = end;
  }
  return out;
}

Result<TemplateValue> ApplyOperator(const std::string& op, const TemplateValue& a, const TemplateValue& b) {
  if (op == "==" || op == "!=") return TemplateValue::Bool(a.Equals(b) == (op == "=="));
  if (op == "in" || op == "not in") {
    TERN_ASSIGN(const bool found, Contains(a, b));
    return TemplateValue::Bool(found == (op == "in"));
  }
  if (op == "<" || op == ">=") {
    TERN_ASSIGN(const bool less, Less(op, a, b));
    return TemplateValue::Bool(less == (op == "<"));
  }
  if (op == ">" || op == "<=") {
    TERN_ASSIGN(const bool less, Less(op, b, a));
    return TemplateValue::Bool(less == (op == ">"));
  }
  if (op == "~") return Joined(a.ToText(), b.ToText());
  if (op == "+" && a.is_text() && b.is_text()) return Joined(a.text(), b.text());
  if (op == "+" && a.is_list() && b.is_list()) {
    ValueList both = a.list();
    both.insert(both.end(), b.list().begin(), b.list().end());
    if (both.size() > kMaxTemplateList) return InvalidArgument("a list has too many elements");
    return TemplateValue::List(std::move(both));
  }
  if (op == "*" && a.is_text() && b.is_int()) return Repeated(a.text(), b.integer());
  if (!a.is_number() || !b.is_number()) return Wrong(op, a, b);
  return Arithmetic(op, a, b);
}

Result<TemplateValue> Subscript(const TemplateValue& value, const TemplateValue& index) {
  if (value.is_object()) return index.is_text() ? value.Member(index.text()) : TemplateValue();
  if (value.undefined()) return InvalidArgument("an element of an undefined value is used: ", index.ToText());
  if (!index.is_int() || (!value.is_list() && !value.is_text())) return TemplateValue();
  const ValueList elements = value.is_text() ? CharactersOf(value.text()) : value.list();
  const auto size = static_cast<int64_t>(elements.size());
  const int64_t i = index.integer() < 0 ? index.integer() + size : index.integer();
  return i < 0 || i >= size ? TemplateValue() : elements[static_cast<size_t>(i)];
}

Result<TemplateValue> Slice(const TemplateValue& value, const TemplateValue& start, const TemplateValue& stop,
                            const TemplateValue& step) {
  if (!value.is_list() && !value.is_text())
    return InvalidArgument("a slice of ", value.kind(), " is used; only lists and strings have slices");
  for (const TemplateValue* bound : {&start, &stop, &step})
    if (!bound->undefined() && !bound->null() && !bound->is_int())
      return InvalidArgument("a bound of a slice is ", bound->kind(), ", must be an integer");
  const ValueList elements = value.is_text() ? CharactersOf(value.text()) : value.list();
  const auto size = static_cast<int64_t>(elements.size());
  const int64_t by = step.is_int() ? std::clamp<int64_t>(step.integer(), -size - 1, size + 1) : 1;
  if (by == 0) return InvalidArgument("the step of a slice is 0");
  const int64_t low = by > 0 ? 0 : -1, high = by > 0 ? size : size - 1;
  const auto bound = [&](const TemplateValue& v, int64_t otherwise) {
    if (!v.is_int()) return otherwise;
    return std::clamp(v.integer() < 0 ? v.integer() + size : v.integer(), low, high);
  };
  const int64_t first = bound(start, by > 0 ? low : high), last = bound(stop, by > 0 ? high : low);
  ValueList out;
  for (int64_t i = first; by > 0 ? i < last : i > last; i += by)
    out.push_back(elements[static_cast<size_t>(i)]);
  if (!value.is_text()) return TemplateValue::List(std::move(out));
  std::string text;
  for (const TemplateValue& c : out) text += c.text();
  return TemplateValue::Text(std::move(text));
}

}  // namespace tern::server
