#include "data/tokenizer/model.h"

#include "data/tokenizer/code_points.h"
#include "data/tokenizer/trie.h"

namespace tern::data {
namespace {

class WordPiece : public Model {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceOptions options, Trie trie)
      : Model(std::move(vocabulary)),
        options_(std::move(options)),
        trie_(std::move(trie)),
        unknown_(vocabulary_.Index(options_.unknown)),
        inside_(trie_.Walk(Trie::kRoot, options_.prefix)) {}

  Status Tokenize(std::string_view word, std::vector<Token>& out) const override {
    if (word.size() > options_.max_characters && CountCodePoints(word) > options_.max_characters)
      return Unknown(word, out);
    const size_t old_size = out.size();
    for (size_t at = 0; at < word.size();) {
      const uint32_t node = at == 0 ? Trie::kRoot : inside_;
      const Trie::Match match = node == Trie::kNone ? Trie::Match() : trie_.Longest(word.substr(at), node);
      if (match.length == 0) {
        out.resize(old_size);
        return Unknown(word, out);
      }
      out.push_back({vocabulary_.Id(match.value), static_cast<uint32_t>(at),
                     static_cast<uint32_t>(at + match.length), vocabulary_.Token(match.value)});
      at += match.length;
    }
    return {};
  }

 private:
  Status Unknown(std::string_view word, std::vector<Token>& out) const {
    if (unknown_ == kNoToken)
      return InvalidModel("a word is unknown, and the vocabulary has no token '", options_.unknown, "'");
    out.push_back(Whole(unknown_, word.size()));
    return {};
  }

  WordPieceOptions options_;
  Trie trie_;
  uint32_t unknown_;
  uint32_t inside_;  // the node of the prefix
};

class WordLevel : public Model {
 public:
  WordLevel(Vocabulary vocabulary, std::string unknown)
      : Model(std::move(vocabulary)), unknown_(std::move(unknown)) {}

  Status Tokenize(std::string_view word, std::vector<Token>& out) const override {
    uint32_t index = vocabulary_.Index(word);
    if (index == kNoToken) index = vocabulary_.Index(unknown_);
    if (index == kNoToken)
      return InvalidModel("a word is unknown, and the vocabulary has no token '", unknown_, "'");
    out.push_back(Whole(index, word.size()));
    return {};
  }

 private:
  std::string unknown_;
};

}  // namespace

Status Model::TokenizeBytes(std::string_view, std::vector<Token>&) const {
  return Status(Code::kInternal, "this model reads characters");
}

Result<std::unique_ptr<Model>> MakeWordPiece(Vocabulary vocabulary, WordPieceOptions options) {
  std::vector<Trie::Entry> entries;
  entries.reserve(vocabulary.size());
  for (uint32_t i = 0; i < vocabulary.size(); ++i)
    if (!vocabulary.Token(i).empty()) entries.push_back({vocabulary.Token(i), i});
  TERN_ASSIGN(Trie trie, Trie::Build(std::move(entries)));
  return std::unique_ptr<Model>(
      std::make_unique<WordPiece>(std::move(vocabulary), std::move(options), std::move(trie)));
}

std::unique_ptr<Model> MakeWordLevel(Vocabulary vocabulary, std::string unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), std::move(unknown));
}

std::vector<uint32_t> ByteTokens(const Vocabulary& vocabulary) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::vector<uint32_t> out(256);
  for (size_t b = 0; b < 256; ++b)
    out[b] = vocabulary.Index(
        StrCat("<0x", std::string(1, kDigits[b >> 4]), std::string(1, kDigits[b & 15]), ">"));
  return out;
}

}  // namespace tern::data
