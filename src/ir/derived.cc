#include "ir/derived.h"

#include <charconv>

#include "base/strings.h"

namespace tern {
namespace {

constexpr std::string_view kPrefix = "tern.derived:";

// The text up to `end`; removes both from `text`.
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
    text += StrCat(checksum, ":", source.size(), ":", source);  // a name may contain any character
  return text;
}

std::optional<DerivedName> ParseDerivedName(const std::string& text) {
  std::string_view rest = text;
  if (rest.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  rest.remove_prefix(kPrefix.size());
  const auto what = Take(rest, '|');
  if (!what) return std::nullopt;
  DerivedName name{std::string(*what), {}};
  while (!rest.empty()) {
    const auto checksum = TakeNumber<uint64_t>(rest, ':');
    const auto size = checksum ? TakeNumber<size_t>(rest, ':') : std::nullopt;
    if (!size || *size > rest.size()) return std::nullopt;
    name.made_from.emplace_back(rest.substr(0, *size), *checksum);
    rest.remove_prefix(*size);
  }
  return name;
}

}  // namespace tern
