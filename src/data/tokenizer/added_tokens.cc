#include "data/tokenizer/added_tokens.h"

#include <algorithm>

#include "data/tokenizer/unicode.h"

namespace tern::data {
namespace {

bool EndsWithWord(std::string_view text) {
  size_t i = text.size();
  return !text.empty() && (CharClasses()[PreviousCodePoint(text, i)] & kWord);
}

bool StartsWithWord(std::string_view text) {
  size_t i = 0;
  return !text.empty() && (CharClasses()[NextCodePoint(text, i)] & kWord);
}

// The start of the white space before text[at].
size_t SpaceBefore(std::string_view text, size_t at) {
  for (size_t i = at; at > 0; at = i)
    if (!(CharClasses()[PreviousCodePoint(text, i)] & kSpace)) break;
  return at;
}

// The end of the white space from text[at] on.
size_t SpaceAfter(std::string_view text, size_t at) {
  for (size_t i = at; at < text.size(); at = i)
    if (!(CharClasses()[NextCodePoint(text, i)] & kSpace)) break;
  return at;
}

}  // namespace

Result<AddedTokens> AddedTokens::Parse(const JsonNode& node, const Model& model,
                                       const Normalizer* normalizer) {
  AddedTokens added;
  TERN_ASSIGN(const auto items, node.Items());
  auto next_id = static_cast<uint32_t>(model.size());
  for (const JsonNode& item : items) TERN_TRY(added.Add(item, model, normalizer, next_id));
  TERN_ASSIGN(added.original_, added.MakeFinder(false));
  TERN_ASSIGN(added.normalized_, added.MakeFinder(true));
  return added;
}

Status AddedTokens::Add(const JsonNode& node, const Model& model, const Normalizer* normalizer,
                        uint32_t& next_id) {
  Added token{};
  TERN_ASSIGN(token.content, node.StringField("content"));
  if (token.content.empty()) return {};
  TERN_ASSIGN(token.single_word, node.BoolField("single_word"));
  TERN_ASSIGN(token.left_strip, node.BoolField("lstrip"));
  TERN_ASSIGN(token.right_strip, node.BoolField("rstrip"));
  TERN_ASSIGN(token.normalized, node.BoolField("normalized"));
  TERN_ASSIGN(const bool special, node.BoolField("special"));
  auto id = FindId(token.content);
  if (!id) id = model.vocabulary().FindId(token.content);
  if (!id && next_id == UINT32_MAX) return node.Invalid("no id is left for this token");
  if (!id) id = next_id++;
  token.text = token.content;
  if (token.normalized && normalizer) {
    AlignedText text(token.content, 0);
    TERN_TRY(normalizer->Apply(text));
    token.text = text.text();
  }
  ids_[token.content] = *id;
  if (special) special_.insert(token.content);
  tokens_[*id] = std::move(token);
  return {};
}

Result<AddedTokens::Finder> AddedTokens::MakeFinder(bool normalized) const {
  std::vector<Trie::Entry> entries;
  for (const auto& [id, token] : tokens_)
    if (token.normalized == normalized && !token.text.empty()) entries.push_back({token.text, id});
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].key == entries[i - 1].key)
      return InvalidModel("added_tokens: the tokens ", entries[i - 1].value, " and ", entries[i].value,
                          " have the same text '", entries[i].key, "' after normalisation");
  Finder finder;
  finder.empty = entries.empty();
  for (const auto& e : entries) finder.first_bytes[static_cast<unsigned char>(e.key[0])] = true;
  TERN_ASSIGN(finder.trie, Trie::Build(std::move(entries)));
  return finder;
}

std::vector<Piece> AddedTokens::Find(const Finder& finder, std::string_view text) const {
  std::vector<Piece> out;
  size_t done = 0;
  const auto put = [&](size_t begin, size_t end, std::optional<uint32_t> id) {
    out.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), id});
  };
  for (size_t i = 0; i < text.size() && !finder.empty;) {
    if (!finder.first_bytes[static_cast<unsigned char>(text[i])]) {
      ++i;
      continue;
    }
    const Trie::Match match = finder.trie.Longest(text.substr(i));
    if (match.length == 0) {
      ++i;
      continue;
    }
    size_t begin = i, end = i + match.length;
    i = end;
    const Added& token = tokens_.at(match.value);
    if (token.single_word && (EndsWithWord(text.substr(0, begin)) || StartsWithWord(text.substr(end))))
      continue;
    if (token.left_strip) begin = std::max(SpaceBefore(text, begin), done);
    if (token.right_strip) end = SpaceAfter(text, end);
    if (done < begin) put(done, begin, std::nullopt);
    put(begin, end, match.value);
    done = end;
  }
  if (done < text.size()) put(done, text.size(), std::nullopt);
  return out;
}

Result<Pieces> AddedTokens::Extract(std::string_view text, const Normalizer* normalizer) const {
  std::vector<Pieces::Part> parts;
  for (const Piece& piece : Find(original_, text)) {
    AlignedText part(text.substr(piece.begin, piece.end - piece.begin), piece.begin);
    if (piece.added) {
      const auto size = static_cast<uint32_t>(part.text().size());
      parts.push_back({std::move(part), {{0, size, piece.added}}});
      continue;
    }
    if (normalizer) TERN_TRY(normalizer->Apply(part));
    std::vector<Piece> pieces = Find(normalized_, part.text());
    parts.push_back({std::move(part), std::move(pieces)});
  }
  return Pieces(std::move(parts), text.size());
}

std::optional<uint32_t> AddedTokens::FindId(std::string_view token) const {
  const auto it = ids_.find(std::string(token));
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::string_view> AddedTokens::FindToken(uint32_t id) const {
  const auto it = tokens_.find(id);
  if (it == tokens_.end()) return std::nullopt;
  return it->second.text;
}

}  // namespace tern::data
