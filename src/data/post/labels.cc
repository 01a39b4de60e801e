#include "data/post/labels.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "data/file.h"
#include "data/text.h"

namespace tern::data {
namespace {

namespace dom = simdjson::dom;
using Names = std::vector<std::string>;
using Indexed = std::vector<std::pair<int64_t, std::string>>;

constexpr int64_t kMaxIndex = 1 << 20;

Result<Names> Place(const Indexed& entries) {
  Names names;
  std::vector<bool> taken;
  for (const auto& [index, name] : entries) {
    if (index < 0 || index > kMaxIndex)
      return InvalidArgument("the index ", index, " of '", name, "' is not from 0 to ", kMaxIndex);
    const auto at = static_cast<size_t>(index);
    if (at >= names.size()) {
      names.resize(at + 1);
      taken.resize(at + 1);
    }
    if (taken[at])
      return InvalidArgument("two names have the index ", index, ": '", names[at], "' and '", name, "'");
    taken[at] = true;
    names[at] = name;
  }
  return names;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view Trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view Unquote(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0];
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Returns the name after "n01440764 ".
std::optional<std::string> AfterSynset(std::string_view line) {
  line = Unquote(Trim(line));
  constexpr size_t kDigits = 8;
  if (line.size() < kDigits + 2 || line[0] != 'n') return {};
  for (size_t i = 1; i <= kDigits; ++i)
    if (!IsDigit(line[i])) return {};
  const char separator = line[kDigits + 1];
  if (separator != ' ' && separator != '\t') return {};
  return std::string(Trim(line.substr(kDigits + 2)));
}

// Splits "12  name", "12: name", "12,name" and "12\tname".
std::optional<std::pair<int64_t, std::string>> AfterIndex(std::string_view line) {
  line = Trim(line);
  const size_t digits =
      static_cast<size_t>(std::find_if_not(line.begin(), line.end(), IsDigit) - line.begin());
  int64_t index = 0;
  if (digits == 0 || digits == line.size() || !ParseInt(line.substr(0, digits), index)) return {};
  const char separator = line[digits];
  if (separator != ' ' && separator != '\t' && separator != ':' && separator != ',') return {};
  const std::string_view name = Trim(line.substr(digits + 1));
  if (name.empty()) return {};
  return std::pair(index, std::string(name));
}

Result<Names> FromLines(std::string_view text) {
  Names lines = SplitLines(text);
  while (!lines.empty() && Trim(lines.back()).empty()) lines.pop_back();
  Names synsets;
  Indexed indexed;
  for (const std::string& line : lines) {
    if (auto name = AfterSynset(line)) synsets.push_back(*name);
    if (auto entry = AfterIndex(line)) indexed.push_back(*entry);
  }
  if (synsets.size() == lines.size()) return synsets;
  if (indexed.size() == lines.size()) return Place(indexed);
  for (std::string& line : lines) line = std::string(Trim(line));
  return lines;
}

// A name, or a list whose last element is the name, such as ["n01440764", "tench"].
Result<std::string> NameOf(dom::element e) {
  if (e.is_string()) return std::string(e.get_string().value_unsafe());
  if (e.is_array()) {
    const dom::array list = e.get_array().value_unsafe();
    if (list.size() > 0) {
      const dom::element last = list.at(list.size() - 1).value_unsafe();
      if (last.is_string()) return std::string(last.get_string().value_unsafe());
    }
  }
  return InvalidArgument("JSON labels must be strings or lists that end in a string");
}

Result<Names> FromDictionary(dom::object object) {
  Indexed entries;
  for (const auto [key, value] : object) {
    int64_t index = 0;
    if (value.is_int64()) {
      entries.emplace_back(value.get_int64().value_unsafe(), std::string(key));
      continue;
    }
    if (!ParseInt(key, index))
      return InvalidArgument("the key '", key, "' of the JSON labels is not an index");
    TERN_ASSIGN(std::string name, NameOf(value));
    entries.emplace_back(index, std::move(name));
  }
  return Place(entries);
}

Result<Names> FromJson(std::string_view text) {
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root))
    return InvalidArgument("not JSON: ", simdjson::error_message(error));
  if (root.is_object()) {
    dom::object object = root.get_object().value_unsafe(), inner;
    // The configuration of a Hugging Face model has the labels in a field.
    if (!object["id2label"].get(inner)) return FromDictionary(inner);
    return FromDictionary(object);
  }
  dom::array list;
  if (root.get(list)) return InvalidArgument("JSON labels must be a list or a dictionary");
  Names names;
  for (const dom::element e : list) {
    TERN_ASSIGN(std::string name, NameOf(e));
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<Names> ParseLabels(std::string_view text) {
  return Guard([&]() -> Result<Names> {
    const size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
    TERN_ASSIGN(Names names, json ? FromJson(text) : FromLines(text));
    if (names.empty()) return InvalidArgument("the file contains no names");
    return names;
  });
}

Result<Names> ReadLabels(const std::string& path) {
  TERN_ASSIGN(const std::string text, ReadFile(path));
  auto names = ParseLabels(text);
  if (!names.ok()) return names.TakeStatus().While(StrCat("reading '", path, "'"));
  return names;
}

}  // namespace tern::data
