#include "ir/derived.h"

#include <charconv>

#include "base/strings.h"

namespace tern {
namespace {

constexpr std::string_view kPrefix = "tern.derived:";

// Returns the text before the first `end`. Removes that text and `end` from `text`.
std::optional<std::string_view> Take(std::string_view& text, char end) {
  const size_t at = text.find(end);
  if (at == text.npos) return std::nullopt;
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + 1);
  return part;
}

template <class T> std::optional<T> TakeNumber(std::string_view& text, char end) {
  const auto part = Take(text, end);
  T value{};
  if (!part ||
      std::from_chars(part->data(), part->data() + part->size(), value).ptr != part->data() + part->size())
    return std::nullopt;
  return value;
}

}  // namespace

std::string ToText(const DerivedName& name) {
  std::string text = StrCat(kPrefix, name.what, "|");
  for (const auto& [source, checksum] : name.made_from)
    // Writes the length of the source's name, because the name may contain any character.
    text += StrCat(checksum, ":", source.size(), ":", source);
  return text;
}

std::optional<DerivedName> ParseDerivedName(const std::string& text) {
  std::string_view remaining = text;
  if (remaining.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  remaining.remove_prefix(kPrefix.size());
  const auto what = Take(remaining, '|');
  if (!what) return std::nullopt;
  DerivedName name{std::string(*what), {}};
  while (!remaining.empty()) {
    const auto checksum = TakeNumber<uint64_t>(remaining, ':');
    const auto size = checksum ? TakeNumber<size_t>(remaining, ':') : std::nullopt;
    if (!size || *size > remaining.size()) return std::nullopt;
    name.made_from.emplace_back(remaining.substr(0, *size), *checksum);
    remaining.remove_prefix(*size);
  }
  return name;
}

}  // namespace tern
