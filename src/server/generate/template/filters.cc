// Filters and tests.
#include <algorithm>
#include <cmath>

#include "data/utf8.h"
#include "server/generate/template/library.h"

namespace tern::server {
namespace {

using Arguments = TemplateArguments;

Status Needs(std::string_view filter, std::string_view what, const TemplateValue& got) {
  return InvalidArgument("the filter '", filter, "' needs ", what, ", got ", got.kind());
}

// Returns the elements of a list, the characters of a string or the keys of a mapping.
Result<ValueList> Elements(std::string_view filter, const TemplateValue& value) {
  if (value.is_list()) return value.list();
  ValueList out;
  if (value.undefined()) return out;
  if (value.is_object()) {
    for (const auto& [key, unused] : value.members()) out.push_back(TemplateValue::Text(key));
    return out;
  }
  if (!value.is_text()) return Needs(filter, "a list", value);
  return CharactersOf(value.text());
}

Result<TemplateValue> Length(const Arguments& a) {
  const TemplateValue& v = a.values[0];
  if (v.is_text()) {
    const auto code_points = data::DecodeUtf8(v.text());
    return TemplateValue::Int(static_cast<int64_t>(code_points ? code_points->size() : v.text().size()));
  }
  if (v.is_list()) return TemplateValue::Int(static_cast<int64_t>(v.list().size()));
  if (v.is_object()) return TemplateValue::Int(static_cast<int64_t>(v.members().size()));
  return v.undefined() ? Result<TemplateValue>(TemplateValue::Int(0))
                       : Needs("length", "a list or string", v);
}

Result<TemplateValue> ToJson(const Arguments& a) {
  std::string out;
  const TemplateValue indent = a.Get(0, "indent");
  a.values[0].AppendJson(
      out, indent.is_int() ? static_cast<int>(std::clamp<int64_t>(indent.integer(), 0, 16)) : -1);
  if (out.size() > kMaxTemplateText) return InvalidArgument("a text has too many bytes");
  return TemplateValue::Text(std::move(out));
}

Result<TemplateValue> JoinAll(const Arguments& a) {
  TERN_ASSIGN(const ValueList elements, Elements("join", a.values[0]));
  const std::string separator = a.Get(0, "d").ToText(), attribute = a.Get(1, "attribute").ToText();
  std::string out;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i) out += separator;
    out += attribute.empty() ? elements[i].ToText() : elements[i].Member(attribute).ToText();
    if (out.size() > kMaxTemplateText) return InvalidArgument("a text has too many bytes");
  }
  return TemplateValue::Text(std::move(out));
}

Result<TemplateValue> Default(const Arguments& a) {
  const TemplateValue& v = a.values[0];
  const bool otherwise = v.undefined() || (a.Get(1, "boolean").truth() && !v.truth());
  if (!otherwise) return v;
  return a.Has(0, "default_value") ? a.Get(0, "default_value") : TemplateValue::Text("");
}

Result<TemplateValue> ToInt(const Arguments& a) {
  const TemplateValue& v = a.values[0];
  int64_t integer = 0;
  if (v.is_int() || v.is_bool()) return TemplateValue::Int(v.integer());
  if (v.is_float() && std::abs(v.number()) < 9e18)
    return TemplateValue::Int(static_cast<int64_t>(v.number()));
  if (v.is_text() && ParseInt(v.text(), integer)) return TemplateValue::Int(integer);
  return a.Has(0, "default") ? a.Get(0, "default") : TemplateValue::Int(0);
}

Result<TemplateValue> ToFloat(const Arguments& a) {
  const TemplateValue& v = a.values[0];
  double real = 0;
  if (v.is_number()) return TemplateValue::Float(v.number());
  if (v.is_text() && ParseDouble(v.text(), real)) return TemplateValue::Float(real);
  return a.Has(0, "default") ? a.Get(0, "default") : TemplateValue::Float(0);
}

// select, reject, selectattr and rejectattr.
Result<TemplateValue> Select(const Arguments& a, bool keep, bool attribute) {
  TERN_ASSIGN(const ValueList elements, Elements("select", a.values[0]));
  const std::string member = attribute ? a.Get(0, "").ToText() : std::string();
  const size_t first = attribute ? 1 : 0;
  const std::string test = a.Get(first, "").ToText();
  if (!test.empty() && !IsTemplateTest(test)) return Unsupported("the test '", test, "' is not supported");
  ValueList out;
  for (const TemplateValue& element : elements) {
    const TemplateValue value = attribute ? element.Member(member) : element;
    bool holds = value.truth();
    if (!test.empty()) {
      TERN_ASSIGN(holds, ApplyTest(test, {{value, a.Get(first + 1, "")}, {}}));
    }
    if (holds == keep) out.push_back(element);
  }
  return TemplateValue::List(std::move(out));
}

Result<TemplateValue> Map(const Arguments& a) {
  TERN_ASSIGN(const ValueList elements, Elements("map", a.values[0]));
  const TemplateValue attribute = a.values.size() > 1 ? TemplateValue() : a.Get(0, "attribute");
  const std::string filter = attribute.is_text() ? std::string() : a.Get(0, "").ToText();
  if (!attribute.is_text() && (!IsTemplateFilter(filter) || filter == "map"))
    return Unsupported("the filter '", filter, "' of map is not supported");
  ValueList out;
  for (const TemplateValue& element : elements) {
    if (attribute.is_text()) {
      const TemplateValue member = element.Member(attribute.text());
      out.push_back(member.undefined() && a.Has(9, "default") ? a.Get(9, "default") : member);
      continue;
    }
    Arguments inner{{element}, {}};
    inner.values.insert(
        inner.values.end(),
        a.values.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(a.values.size())),
        a.values.end());
    TERN_ASSIGN(TemplateValue made, ApplyFilter(filter, inner));
    out.push_back(std::move(made));
  }
  return TemplateValue::List(std::move(out));
}

Result<TemplateValue> End(const Arguments& a, bool last) {
  TERN_ASSIGN(const ValueList elements, Elements(last ? "last" : "first", a.values[0]));
  return elements.empty() ? TemplateValue() : last ? elements.back() : elements.front();
}

Result<TemplateValue> Reverse(const Arguments& a) {
  TERN_ASSIGN(ValueList elements, Elements("reverse", a.values[0]));
  std::reverse(elements.begin(), elements.end());
  if (!a.values[0].is_text()) return TemplateValue::List(std::move(elements));
  std::string out;
  for (const TemplateValue& c : elements) out += c.text();
  return TemplateValue::Text(std::move(out));
}

Result<TemplateValue> Sort(const Arguments& a) {
  TERN_ASSIGN(ValueList elements, Elements("sort", a.values[0]));
  const bool texts =
      std::all_of(elements.begin(), elements.end(), [](const TemplateValue& v) { return v.is_text(); });
  if (!texts &&
      !std::all_of(elements.begin(), elements.end(), [](const TemplateValue& v) { return v.is_number(); }))
    return InvalidArgument("the filter 'sort' needs a list of strings or of numbers");
  std::stable_sort(elements.begin(), elements.end(), [&](const TemplateValue& x, const TemplateValue& y) {
    return texts ? x.text() < y.text() : x.number() < y.number();
  });
  return TemplateValue::List(std::move(elements));
}

// Inserts spaces after line ends.
Result<TemplateValue> Indent(const Arguments& a) {
  const TemplateValue width = a.Get(0, "width");
  const std::string pad(static_cast<size_t>(width.is_int() ? std::clamp<int64_t>(width.integer(), 0, 64) : 4),
                        ' ');
  std::string out = a.Get(1, "first").truth() ? pad : "";
  const std::string text = a.values[0].ToText();
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && (text[i + 1] != '\n' || a.Get(2, "blank").truth()))
      out += pad;
  }
  return TemplateValue::Text(std::move(out));
}

// A filter that is a method of strings.
template <const char* kMethod> Result<TemplateValue> AsMethod(const Arguments& a) {
  Arguments text = a;
  text.values[0] = TemplateValue::Text(a.values[0].ToText());
  return CallMethod(kMethod, text);
}
constexpr char kStrip[] = "strip", kUpper[] = "upper", kLower[] = "lower", kTitle[] = "title",
               kCapitalize[] = "capitalize", kReplace[] = "replace";

Result<TemplateValue> Items(const Arguments& a) {
  if (a.values[0].undefined()) return TemplateValue::List();
  if (!a.values[0].is_object()) return Needs("items", "a mapping", a.values[0]);
  return CallMethod("items", a);
}

struct Filter {
  const char* name;
  Result<TemplateValue> (*run)(const Arguments&);
};

constexpr Filter kFilters[] = {
    {"trim", AsMethod<kStrip>},
    {"upper", AsMethod<kUpper>},
    {"lower", AsMethod<kLower>},
    {"title", AsMethod<kTitle>},
    {"capitalize", AsMethod<kCapitalize>},
    {"replace", AsMethod<kReplace>},
    {"length", Length},
    {"count", Length},
    {"tojson", ToJson},
    {"join", JoinAll},
    {"default", Default},
    {"d", Default},
    {"int", ToInt},
    {"float", ToFloat},
    {"string",
     [](const Arguments& a) -> Result<TemplateValue> { return TemplateValue::Text(a.values[0].ToText()); }},
    {"safe", [](const Arguments& a) -> Result<TemplateValue> { return a.values[0]; }},
    {"list",
     [](const Arguments& a) -> Result<TemplateValue> {
       TERN_ASSIGN(ValueList elements, Elements("list", a.values[0]));
       return TemplateValue::List(std::move(elements));
     }},
    {"first", [](const Arguments& a) { return End(a, false); }},
    {"last", [](const Arguments& a) { return End(a, true); }},
    {"reverse", Reverse},
    {"sort", Sort},
    {"indent", Indent},
    {"items", Items},
    {"map", Map},
    {"select", [](const Arguments& a) { return Select(a, true, false); }},
    {"reject", [](const Arguments& a) { return Select(a, false, false); }},
    {"selectattr", [](const Arguments& a) { return Select(a, true, true); }},
    {"rejectattr", [](const Arguments& a) { return Select(a, false, true); }},
};

struct Test {
  const char* name;
  bool (*holds)(const TemplateValue& value, const TemplateValue& argument);
};

bool Equal(const TemplateValue& v, const TemplateValue& other) { return v.Equals(other); }

constexpr Test kTests[] = {
    {"defined", [](const TemplateValue& v, const TemplateValue&) { return !v.undefined(); }},
    {"undefined", [](const TemplateValue& v, const TemplateValue&) { return v.undefined(); }},
    {"none", [](const TemplateValue& v, const TemplateValue&) { return v.null(); }},
    {"string", [](const TemplateValue& v, const TemplateValue&) { return v.is_text(); }},
    {"mapping", [](const TemplateValue& v, const TemplateValue&) { return v.is_object(); }},
    {"number", [](const TemplateValue& v, const TemplateValue&) { return v.is_number(); }},
    {"integer", [](const TemplateValue& v, const TemplateValue&) { return v.is_int(); }},
    {"float", [](const TemplateValue& v, const TemplateValue&) { return v.is_float(); }},
    {"boolean", [](const TemplateValue& v, const TemplateValue&) { return v.is_bool(); }},
    {"true", [](const TemplateValue& v, const TemplateValue&) { return v.is_bool() && v.truth(); }},
    {"false", [](const TemplateValue& v, const TemplateValue&) { return v.is_bool() && !v.truth(); }},
    {"iterable",
     [](const TemplateValue& v, const TemplateValue&) {
       return v.is_list() || v.is_text() || v.is_object() || v.undefined();
     }},
    {"sequence",
     [](const TemplateValue& v, const TemplateValue&) {
       return v.is_list() || v.is_text() || v.is_object() || v.undefined();
     }},
    {"odd", [](const TemplateValue& v, const TemplateValue&) { return v.is_int() && v.integer() % 2 != 0; }},
    {"even", [](const TemplateValue& v, const TemplateValue&) { return v.is_int() && v.integer() % 2 == 0; }},
    {"equalto", Equal},
    {"eq", Equal},
    {"ne", [](const TemplateValue& v, const TemplateValue& other) { return !v.Equals(other); }},
    {"divisibleby",
     [](const TemplateValue& v, const TemplateValue& by) {
       return v.is_int() && by.is_int() && by.integer() != 0 &&
              (by.integer() == -1 || v.integer() % by.integer() == 0);
     }},
};

}  // namespace

bool IsTemplateFilter(std::string_view name) {
  return std::any_of(std::begin(kFilters), std::end(kFilters),
                     [&](const Filter& f) { return name == f.name; });
}

bool IsTemplateTest(std::string_view name) {
  return name == "in" ||
         std::any_of(std::begin(kTests), std::end(kTests), [&](const Test& t) { return name == t.name; });
}

Result<TemplateValue> ApplyFilter(const std::string& name, const TemplateArguments& a) {
  for (const Filter& filter : kFilters)
    if (name == filter.name) return filter.run(a);
  return Unsupported("the filter '", name, "' is not supported");
}

Result<bool> ApplyTest(const std::string& name, const TemplateArguments& a) {
  if (name == "in") {
    TERN_ASSIGN(const TemplateValue found, ApplyOperator("in", a.values[0], a.Get(0, "")));
    return found.truth();
  }
  for (const Test& test : kTests)
    if (name == test.name) return test.holds(a.values[0], a.Get(0, ""));
  return Unsupported("the test '", name, "' is not supported");
}

}  // namespace tern::server
