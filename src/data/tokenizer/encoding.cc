#include "data/tokenizer/encoding.h"

#include <algorithm>
#include <iterator>

namespace tern::data {
namespace {

// Calls f for each vector of the encoding.
template <class E, class F> void EachField(E& e, F&& f) {
  f(e.ids);
  f(e.type_ids);
  f(e.attention_mask);
  f(e.special_tokens_mask);
  f(e.tokens);
  f(e.offsets);
  f(e.words);
  f(e.sequence_ids);
}

template <class T> void Extend(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty())
    to = std::move(from);
  else
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// The lengths of both texts if the longer one is cut first.
std::pair<size_t, size_t> LongestFirst(size_t first, size_t second, size_t max_length) {
  size_t shorter = std::min(first, second);
  size_t longer = shorter > max_length ? shorter : std::max(shorter, max_length - shorter);
  if (shorter + longer > max_length) {
    shorter = max_length / 2;
    longer = shorter + max_length % 2;
  }
  return first > second ? std::pair{longer, shorter} : std::pair{shorter, longer};
}

Result<Side> ParseSide(const JsonNode& node) {
  TERN_ASSIGN(const std::string side, node.StringField("direction", "Right"));
  if (side == "Left") return Side::kLeft;
  if (side == "Right") return Side::kRight;
  return node.Invalid(StrCat("unknown direction '", side, "'"));
}

}  // namespace

void AppendSpecial(Encoding& e, int64_t id, const std::string& token, int64_t type_id) {
  e.ids.push_back(id);
  e.type_ids.push_back(type_id);
  e.attention_mask.push_back(1);
  e.special_tokens_mask.push_back(1);
  e.tokens.push_back(token);
  e.offsets.emplace_back(0, 0);
  e.words.push_back(-1);
  e.sequence_ids.push_back(-1);
}

void AppendEncoding(Encoding& encoding, Encoding other) {
  Extend(encoding.ids, std::move(other.ids));
  Extend(encoding.type_ids, std::move(other.type_ids));
  Extend(encoding.attention_mask, std::move(other.attention_mask));
  Extend(encoding.special_tokens_mask, std::move(other.special_tokens_mask));
  Extend(encoding.tokens, std::move(other.tokens));
  Extend(encoding.offsets, std::move(other.offsets));
  Extend(encoding.words, std::move(other.words));
  Extend(encoding.sequence_ids, std::move(other.sequence_ids));
}

void Cut(Encoding& encoding, size_t count, Side side) {
  if (count >= encoding.size()) return;
  const auto removed = static_cast<ptrdiff_t>(encoding.size() - count);
  EachField(encoding, [&](auto& field) {
    if (side == Side::kLeft)
      field.erase(field.begin(), field.begin() + removed);
    else
      field.erase(field.end() - removed, field.end());
  });
}

Status Truncate(const Truncation& truncation, size_t max_length, Encoding& first, Encoding* second) {
  const size_t total = first.size() + (second ? second->size() : 0);
  if (max_length == 0) {
    Cut(first, 0, truncation.side);
    if (second) Cut(*second, 0, truncation.side);
    return {};
  }
  if (total <= max_length) return {};
  if (truncation.strategy == Truncation::Strategy::kLongestFirst) {
    const auto [a, b] =
        second ? LongestFirst(first.size(), second->size(), max_length) : std::pair{max_length, size_t{0}};
    Cut(first, a, truncation.side);
    if (second) Cut(*second, b, truncation.side);
    return {};
  }
  Encoding* target = truncation.strategy == Truncation::Strategy::kOnlyFirst ? &first : second;
  if (!target) return InvalidArgument("the truncation strategy 'only_second' needs a pair of texts");
  const size_t excess = total - max_length;
  if (target->size() <= excess)
    return InvalidArgument("truncation must remove ", excess, " tokens of a text that has ", target->size());
  Cut(*target, target->size() - excess, truncation.side);
  return {};
}

Status Pad(const Padding& padding, std::vector<Encoding>& encodings) {
  size_t length = padding.fixed_length.value_or(0);
  if (!padding.fixed_length)
    for (const Encoding& e : encodings) length = std::max(length, e.size());
  if (padding.multiple_of > 0 && length % padding.multiple_of > 0)
    length += padding.multiple_of - length % padding.multiple_of;
  if (length > kMaxTokens)
    return ResourceExhausted("padding to ", length, " tokens; at most ", kMaxTokens, " are allowed");
  for (Encoding& e : encodings) {
    if (e.size() >= length) continue;
    const size_t n = length - e.size();
    const auto add = [&](auto& field, const auto& value) {
      field.insert(padding.side == Side::kLeft ? field.begin() : field.end(), n, value);
    };
    add(e.ids, padding.id);
    add(e.type_ids, padding.type_id);
    add(e.attention_mask, int64_t{0});
    add(e.special_tokens_mask, int64_t{1});
    add(e.tokens, padding.token);
    add(e.offsets, std::pair<size_t, size_t>{0, 0});
    add(e.words, int64_t{-1});
    add(e.sequence_ids, int64_t{-1});
  }
  return {};
}

Result<Truncation> ParseTruncation(const JsonNode& node) {
  Truncation t;
  TERN_ASSIGN(t.side, ParseSide(node));
  TERN_ASSIGN(t.max_length, node.UnsignedField("max_length", INT64_MAX));
  TERN_ASSIGN(t.stride, node.UnsignedField("stride", INT64_MAX));
  TERN_ASSIGN(const std::string strategy, node.StringField("strategy"));
  if (strategy == "LongestFirst")
    t.strategy = Truncation::Strategy::kLongestFirst;
  else if (strategy == "OnlyFirst")
    t.strategy = Truncation::Strategy::kOnlyFirst;
  else if (strategy == "OnlySecond")
    t.strategy = Truncation::Strategy::kOnlySecond;
  else
    return node.Invalid(StrCat("unknown strategy '", strategy, "'"));
  return t;
}

Result<Padding> ParsePadding(const JsonNode& node) {
  Padding p;
  TERN_ASSIGN(p.side, ParseSide(node));
  TERN_ASSIGN(const JsonNode strategy, node.Field("strategy"));
  if (strategy.is_object()) {
    TERN_ASSIGN(p.fixed_length, strategy.UnsignedField("Fixed", kMaxTokens));
  } else {
    TERN_ASSIGN(const std::string name, strategy.String());
    if (name != "BatchLongest") return strategy.Invalid(StrCat("unknown strategy '", name, "'"));
  }
  if (const auto multiple = node.Find("pad_to_multiple_of")) {
    TERN_ASSIGN(p.multiple_of, multiple->Unsigned(kMaxTokens));
  }
  TERN_ASSIGN(p.id, node.UnsignedField("pad_id", UINT32_MAX));
  TERN_ASSIGN(p.type_id, node.UnsignedField("pad_type_id", UINT32_MAX));
  TERN_ASSIGN(p.token, node.StringField("pad_token"));
  return p;
}

}  // namespace tern::data
