// Divides a word into tokens of a vocabulary.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/tokenizer/vocabulary.h"

namespace tern::data {

struct Token {
  uint32_t id;
  uint32_t begin, end;    // bytes of the word
  std::string_view text;  // part of the model or of the word
};

// Immutable and thread-safe.
class Model {
 public:
  virtual ~Model() = default;
  // Appends the tokens of `word`, which is UTF-8 and not empty.
  virtual Status Tokenize(std::string_view word, std::vector<Token>& out) const = 0;
  // True if TokenizeBytes may be called.
  virtual bool accepts_bytes() const { return false; }
  // Like Tokenize of the word with each byte replaced by its printable character
  // (data/tokenizer/byte_level.h). The positions in the tokens are those of the bytes.
  virtual Status TokenizeBytes(std::string_view word, std::vector<Token>& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  // The number of ids.
  virtual size_t size() const { return vocabulary_.size(); }

 protected:
  explicit Model(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Token Whole(uint32_t index, size_t size) const {
    return {vocabulary_.Id(index), 0, static_cast<uint32_t>(size), vocabulary_.Token(index)};
  }
  const Vocabulary vocabulary_;
};

// Takes the longest token that the rest of the word starts with. Inside a word, tokens have a prefix. If no
// token fits, the entire word is unknown.
struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string prefix = "##";
  uint64_t max_characters = 100;  // longer words are unknown
};
Result<std::unique_ptr<Model>> MakeWordPiece(Vocabulary vocabulary, WordPieceOptions options);

// A word is one token: the word itself, or `unknown`.
std::unique_ptr<Model> MakeWordLevel(Vocabulary vocabulary, std::string unknown);

struct Merge {
  std::string left, right;
};
struct BpeOptions {
  std::optional<std::string> unknown;
  std::string prefix;  // of tokens inside a word
  std::string suffix;  // of the last token of a word
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;  // a word that is a token is not divided
};
// Repeatedly merges the neighbours whose pair comes first in `merges`, until no pair of neighbours is in
// `merges`.
Result<std::unique_ptr<Model>> MakeBpe(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                       BpeOptions options);

struct UnigramOptions {
  std::optional<uint32_t> unknown;  // an id
  bool byte_fallback = false;
};
// Takes the division with the highest sum of scores. `scores` has one element per id.
Result<std::unique_ptr<Model>> MakeUnigram(Vocabulary vocabulary, std::vector<double> scores,
                                           UnigramOptions options);

// The tokens <0x00> to <0xFF>, as indices of the vocabulary or kNoToken.
std::vector<uint32_t> ByteTokens(const Vocabulary& vocabulary);

}  // namespace tern::data
