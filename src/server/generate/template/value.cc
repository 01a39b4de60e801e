#include "server/generate/template/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "server/http/json_writer.h"

namespace tern::server {
namespace {

// Returns the text of repr() of Python for a float.
std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto [end, unused] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string Quoted(const std::string& text) {
  const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + quote;
}

std::string Repr(const TemplateValue& value) {
  return value.is_text() ? Quoted(value.text()) : value.ToText();
}

void NewLine(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent * depth), ' ');
}

}  // namespace

TemplateValue TemplateValue::List(ValueList elements) {
  return TemplateValue(Data(std::make_shared<ValueList>(std::move(elements))));
}
TemplateValue TemplateValue::Object(ValueMembers members) {
  return TemplateValue(Data(std::make_shared<ValueMembers>(std::move(members))));
}

int64_t TemplateValue::integer() const {
  return is_bool() ? std::get<bool>(data_) : std::get<int64_t>(data_);
}

double TemplateValue::number() const {
  return is_float() ? std::get<double>(data_) : static_cast<double>(integer());
}

bool TemplateValue::truth() const {
  if (is_bool() || is_int()) return integer() != 0;
  if (is_float()) return number() != 0;
  if (is_text()) return !text().empty();
  if (is_list()) return !list().empty();
  return is_object() && !members().empty();
}

const char* TemplateValue::kind() const {
  constexpr const char* kNames[] = {"undefined", "none",   "bool", "integer",
                                    "float",     "string", "list", "mapping"};
  return kNames[data_.index()];
}

std::string TemplateValue::ToText() const {
  if (undefined()) return {};
  if (null()) return "None";
  if (is_bool()) return integer() ? "True" : "False";
  if (is_int()) return StrCat(integer());
  if (is_float()) return FloatText(number());
  if (is_text()) return text();
  std::vector<std::string> parts;
  if (is_list()) {
    for (const TemplateValue& element : list()) parts.push_back(Repr(element));
    return "[" + Join(parts, ", ") + "]";
  }
  for (const auto& [name, member] : members()) parts.push_back(Quoted(name) + ": " + Repr(member));
  return "{" + Join(parts, ", ") + "}";
}

TemplateValue TemplateValue::Member(std::string_view name) const {
  if (!is_object()) return {};
  for (const auto& [key, member] : members())
    if (key == name) return member;
  return {};
}

void TemplateValue::Set(const std::string& name, TemplateValue value) const {
  for (auto& [key, member] : members())
    if (key == name) {
      member = std::move(value);
      return;
    }
  members().emplace_back(name, std::move(value));
}

bool TemplateValue::Equals(const TemplateValue& other) const {
  if (is_number() && other.is_number()) return number() == other.number();
  if (data_.index() != other.data_.index()) return false;
  if (is_text()) return text() == other.text();
  if (is_list())
    return std::equal(list().begin(), list().end(), other.list().begin(), other.list().end(),
                      [](const TemplateValue& a, const TemplateValue& b) { return a.Equals(b); });
  if (!is_object()) return true;
  return members().size() == other.members().size() &&
         std::all_of(members().begin(), members().end(),
                     [&](const auto& m) { return m.second.Equals(other.Member(m.first)); });
}

void TemplateValue::AppendJson(std::string& out, int indent, int depth) const {
  if (undefined() || null()) {
    out += "null";
  } else if (is_bool()) {
    out += integer() ? "true" : "false";
  } else if (is_text()) {
    server::AppendJson(out, text());
  } else if (is_list()) {
    out += '[';
    for (size_t i = 0; i < list().size(); ++i) {
      if (i) out += indent < 0 ? ", " : ",";
      NewLine(out, indent, depth + 1);
      list()[i].AppendJson(out, indent, depth + 1);
    }
    if (!list().empty()) NewLine(out, indent, depth);
    out += ']';
  } else if (is_object()) {
    out += '{';
    for (size_t i = 0; i < members().size(); ++i) {
      if (i) out += indent < 0 ? ", " : ",";
      NewLine(out, indent, depth + 1);
      server::AppendJson(out, members()[i].first);
      out += ": ";
      members()[i].second.AppendJson(out, indent, depth + 1);
    }
    if (!members().empty()) NewLine(out, indent, depth);
    out += '}';
  } else {
    out += ToText();
  }
}

Status ReadValue(JsonReader& json, TemplateValue& value, int64_t& budget) {
  if (--budget < 0) return InvalidArgument("the JSON has too many values");
  switch (json.Peek()) {
    case JsonReader::Kind::kObject: {
      value = TemplateValue::Object();
      return json.Object([&](std::string_view key) -> Status {
        const std::string name(key);
        TemplateValue member;
        TERN_TRY(ReadValue(json, member, budget));
        value.members().emplace_back(name, std::move(member));
        return {};
      });
    }
    case JsonReader::Kind::kArray:
      value = TemplateValue::List();
      return json.Array([&] { return ReadValue(json, value.list().emplace_back(), budget); });
    case JsonReader::Kind::kString: {
      std::string text;
      TERN_TRY(json.String(text));
      value = TemplateValue::Text(std::move(text));
      return {};
    }
    case JsonReader::Kind::kNumber: {
      JsonNumber number;
      TERN_TRY(json.Number(number));
      int64_t integer = 0;
      double real = 0;
      if (number.integer && ToInt64(number, integer).ok()) {
        value = TemplateValue::Int(integer);
        return {};
      }
      TERN_TRY(ToDouble(number, real));
      value = TemplateValue::Float(real);
      return {};
    }
    case JsonReader::Kind::kBool: {
      bool truth = false;
      TERN_TRY(json.Bool(truth));
      value = TemplateValue::Bool(truth);
      return {};
    }
    default:
      value = TemplateValue::Null();
      return json.Null();
  }
}

Result<TemplateValue> ParseValue(std::string_view text, int max_depth) {
  JsonReader json(text, max_depth);
  TemplateValue value;
  int64_t budget = 1'000'000;
  TERN_TRY(ReadValue(json, value, budget));
  TERN_TRY(json.End());
  return value;
}

}  // namespace tern::server
