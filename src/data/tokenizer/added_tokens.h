// Tokens that are found in the text before the model sees it, such as [MASK].
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "data/tokenizer/json_node.h"
#include "data/tokenizer/model.h"
#include "data/tokenizer/normalizer.h"
#include "data/tokenizer/pieces.h"
#include "data/tokenizer/trie.h"

namespace tern::data {

// Immutable after Parse. Thread-safe.
class AddedTokens {
 public:
  // `node` is the array `added_tokens`. A token that the model knows keeps the model's id. Other tokens get
  // the ids after those of the vocabulary, as in the `tokenizers` package. `normalizer` may be null.
  static Result<AddedTokens> Parse(const JsonNode& node, const Model& model, const Normalizer* normalizer);

  // Finds the added tokens. Normalises the text between the tokens that match the original text.
  Result<Pieces> Extract(std::string_view text, const Normalizer* normalizer) const;

  std::optional<uint32_t> FindId(std::string_view token) const;
  // Returns the text that the decoder gets for the token. It is normalised if the token matches normalised
  // text.
  std::optional<std::string_view> FindToken(uint32_t id) const;
  bool IsSpecial(std::string_view token) const { return special_.contains(std::string(token)); }
  const std::unordered_map<std::string, uint32_t>& ids() const { return ids_; }

 private:
  struct Added {
    std::string content;
    std::string text;  // the text that is searched
    bool single_word, left_strip, right_strip, normalized;
  };
  // Finds occurrences of a set of strings. Among the occurrences that begin first, takes the longest.
  struct Finder {
    Trie trie;
    bool first_bytes[256] = {};  // the bytes that strings begin with
    bool empty = true;
  };
  Status Add(const JsonNode& node, const Model& model, const Normalizer* normalizer, uint32_t& next_id);
  Result<Finder> MakeFinder(bool normalized) const;
  std::vector<Piece> Find(const Finder& finder, std::string_view text) const;

  std::unordered_map<std::string, uint32_t> ids_;
  std::unordered_map<uint32_t, Added> tokens_;
  std::unordered_set<std::string> special_;
  Finder original_, normalized_;
};

}  // namespace tern::data
