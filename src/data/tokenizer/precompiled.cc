#include <utf8proc.h>

#include <array>
#include <cstring>

#include "data/tokenizer/normalizer.h"

namespace tern::data {
namespace {

// Decodes base64 with padding. Returns nullopt for any other text.
std::optional<std::string> DecodeBase64(std::string_view in) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int, 256> values;
  values.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<int>(i);
  if (in.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < in.size() && in[in.size() - 1 - padding] == '=') ++padding;
  std::string out;
  uint32_t bits = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool pad = i + padding >= in.size();
    const int value = pad ? 0 : values[static_cast<unsigned char>(in[i])];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) out.push_back(static_cast<char>(bits >> shift));
    bits = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

// The next boundary of an extended grapheme cluster after text[begin].
size_t ClusterEnd(std::string_view text, size_t begin) {
  size_t end = begin;
  auto last = static_cast<utf8proc_int32_t>(NextCodePoint(text, end));
  utf8proc_int32_t state = 0;
  while (end < text.size()) {
    size_t next = end;
    const auto c = static_cast<utf8proc_int32_t>(NextCodePoint(text, next));
    // Between two ASCII characters there is a boundary, except in CR LF.
    if ((last < 0x80 && c < 0x80 && !(last == '\r' && c == '\n')) ||
        utf8proc_grapheme_break_stateful(last, c, &state))
      break;
    last = c;
    end = next;
  }
  return end;
}

class Precompiled : public Normalizer {
 public:
  Precompiled(std::vector<uint32_t> units, std::string replacements)
      : units_(std::move(units)), replacements_(std::move(replacements)) {}

  Status Apply(AlignedText& aligned) const override {
    const std::string& text = aligned.text();
    std::vector<Change> changes;
    changes.reserve(text.size());
    bool modified = false;
    for (size_t i = 0; i < text.size();) {
      const size_t end = ClusterEnd(text, i);
      modified |= Cluster(std::string_view(text).substr(i, end - i), changes);
      if (changes.size() > aligned.limit())
        return ResourceExhausted("the normalizer Precompiled makes the text longer than ", aligned.limit(),
                                 " bytes");
      i = end;
    }
    if (modified) aligned.Transform(changes);
    return {};
  }

 private:
  // Replaces a short cluster as a whole if the trie contains it or a prefix of it. Otherwise replaces
  // character by character.
  bool Cluster(std::string_view cluster, std::vector<Change>& changes) const {
    if (cluster.size() < 6)
      if (const auto replacement = Find(cluster)) {
        Put(cluster, *replacement, changes);
        return true;
      }
    bool modified = false;
    for (size_t i = 0; i < cluster.size();) {
      const size_t begin = i;
      const char32_t c = NextCodePoint(cluster, i);
      const auto replacement = Find(cluster.substr(begin, i - begin));
      modified |= replacement.has_value();
      if (replacement)
        Put(cluster.substr(begin, i - begin), *replacement, changes);
      else
        changes.push_back({c, 0});
    }
    return modified;
  }

  // New code points replace the old ones one by one. If there are more new code points, the rest is inserted.
  // If there are more old code points, the last new one removes the rest.
  static void Put(std::string_view old_text, std::string_view new_text, std::vector<Change>& changes) {
    const auto old_count = static_cast<int>(CountCodePoints(old_text));
    int count = 0;
    for (size_t i = 0; i < new_text.size(); ++count)
      changes.push_back({NextCodePoint(new_text, i), count >= old_count});
    if (count < old_count && !changes.empty()) changes.back().change -= old_count - count;
  }

  uint32_t Unit(size_t at) const { return at < units_.size() ? units_[at] : 0; }
  static size_t Offset(uint32_t unit) { return size_t{unit >> 10} << ((unit & (1u << 9)) >> 6); }

  // The replacement of the shortest key that `text` starts with.
  std::optional<std::string_view> Find(std::string_view text) const {
    size_t at = Offset(Unit(0));
    for (const char byte : text) {
      const auto b = static_cast<unsigned char>(byte);
      if (b == 0) break;
      at ^= b;
      const uint32_t unit = Unit(at);
      if ((unit & (1u << 31 | 0xff)) != b) break;
      at ^= Offset(unit);
      if ((unit >> 8) & 1) return Replacement(Unit(at) & 0x7fffffff);
    }
    return std::nullopt;
  }
  // The NUL-terminated string at a position that is the start of a code point.
  std::optional<std::string_view> Replacement(size_t at) const {
    if (at > replacements_.size() || (at < replacements_.size() && IsContinuation(replacements_[at])))
      return std::nullopt;
    const size_t end = replacements_.find('\0', at);
    return std::string_view(replacements_).substr(at, end == std::string::npos ? end : end - at);
  }

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace

Result<std::unique_ptr<Normalizer>> MakePrecompiled(std::string_view base64) {
  const auto bytes = DecodeBase64(base64);
  if (!bytes) return InvalidModel("precompiled_charsmap is not base64");
  uint32_t trie_bytes = 0;
  if (bytes->size() < 4)
    return InvalidModel("precompiled_charsmap has ", bytes->size(), " bytes, at least 4 are needed");
  std::memcpy(&trie_bytes, bytes->data(), 4);
  if (trie_bytes > bytes->size() - 4)
    return InvalidModel("precompiled_charsmap says that its trie has ", trie_bytes, " bytes, but ",
                        bytes->size() - 4, " follow");
  std::vector<uint32_t> units(trie_bytes / 4);
  if (!units.empty()) std::memcpy(units.data(), bytes->data() + 4, units.size() * 4);
  std::string replacements = bytes->substr(4 + units.size() * 4);
  if (const size_t bad = FindInvalidUtf8(replacements); bad != std::string::npos)
    return InvalidModel("precompiled_charsmap: the replacements are not UTF-8 at byte ", bad);
  return std::unique_ptr<Normalizer>(
      std::make_unique<Precompiled>(std::move(units), std::move(replacements)));
}

}  // namespace tern::data
