#include <algorithm>
#include <atomic>

#include "data/tokenizer/bpe_merges.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/code_points.h"
#include "data/tokenizer/model.h"

namespace tern::data {
namespace {

// Whether merging the characters of a token results in that token.
enum class Known : uint8_t { kNotTried, kYes, kNo };

class Bpe : public Model {
 public:
  static Result<std::unique_ptr<Model>> Make(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                             BpeOptions options) {
    std::unique_ptr<Bpe> bpe(new Bpe(std::move(vocabulary), std::move(options), merges.size()));
    TERN_TRY(bpe->AddMerges(merges));
    TERN_TRY(bpe->AddBytes());
    return std::unique_ptr<Model>(std::move(bpe));
  }

  Status Tokenize(std::string_view word, std::vector<Token>& out) const override {
    if (options_.ignore_merges)
      if (const uint32_t index = vocabulary_.Index(word); index != kNoToken) {
        out.push_back(Whole(index, word.size()));
        return {};
      }
    const uint32_t index =
        options_.suffix.empty() ? vocabulary_.Index(word) : vocabulary_.Index(StrCat(word, options_.suffix));
    return Run(word, index, out, [this](std::string_view w, std::vector<Symbol>& s) { return Divide(w, s); });
  }

  bool accepts_bytes() const override { return accepts_bytes_; }

  Status TokenizeBytes(std::string_view word, std::vector<Token>& out) const override {
    const uint32_t found = bytes_.Find(word);
    const uint32_t index = found == kNoToken ? kNoToken : index_of_bytes_[found];
    if (options_.ignore_merges && index != kNoToken) {
      out.push_back(Whole(index, word.size()));
      return {};
    }
    return Run(word, index, out,
               [this](std::string_view w, std::vector<Symbol>& s) { return DivideBytes(w, s); });
  }

 private:
  Bpe(Vocabulary vocabulary, BpeOptions options, size_t merges)
      : Model(std::move(vocabulary)),
        options_(std::move(options)),
        merges_(merges),
        byte_tokens_(ByteTokens(vocabulary_)),
        whole_(vocabulary_.size()) {
    if (options_.unknown) unknown_ = vocabulary_.Index(*options_.unknown);
    accepts_bytes_ = options_.prefix.empty() && options_.suffix.empty() && !options_.byte_fallback;
  }

  Status AddMerges(const std::vector<Merge>& merges) {
    const auto index = [&](size_t rank, const std::string& token, uint32_t& out) -> Status {
      out = vocabulary_.Index(token);
      if (out == kNoToken)
        return InvalidModel("merge ", rank, " ('", merges[rank].left, "', '", merges[rank].right,
                            "') needs the token '", token, "', which the vocabulary does not have");
      return {};
    };
    for (size_t rank = 0; rank < merges.size(); ++rank) {
      const auto& [left, right] = merges[rank];
      if (right.size() < options_.prefix.size())
        return InvalidModel("merge ", rank, ": '", right, "' is shorter than continuing_subword_prefix");
      uint32_t a = 0, b = 0, ab = 0;
      TERN_TRY(index(rank, left, a));
      TERN_TRY(index(rank, right, b));
      TERN_TRY(index(rank, left + right.substr(options_.prefix.size()), ab));
      merges_.Add(a, b, {static_cast<uint32_t>(rank), ab});
    }
    return {};
  }

  // Stores the bytes that the tokens stand for.
  Status AddBytes() {
    if (!accepts_bytes_) return {};
    for (uint32_t i = 0; i < vocabulary_.size(); ++i) {
      const auto bytes = BytesOfCharacters(vocabulary_.Token(i));
      if (!bytes || bytes->empty()) continue;
      TERN_ASSIGN(const auto added, bytes_.Add(*bytes));
      if (added.second) index_of_bytes_.push_back(i);
    }
    for (size_t b = 0; b < 256; ++b) {
      const uint32_t found = bytes_.Find(std::string(1, static_cast<char>(b)));
      byte_symbols_[b] = found == kNoToken ? kNoToken : index_of_bytes_[found];
    }
    return {};
  }

  // `index` is the index of the token for the entire word, or kNoToken.
  template <class Divider>
  Status Run(std::string_view word, uint32_t index, std::vector<Token>& out, const Divider& divide) const {
    if (index != kNoToken && whole_[index].load(std::memory_order_relaxed) == Known::kYes) {
      out.push_back(Whole(index, word.size()));
      return {};
    }
    thread_local std::vector<Symbol> symbols;
    symbols.clear();
    TERN_TRY(divide(word, symbols));
    merges_.Apply(symbols);
    if (index != kNoToken) {
      const bool yes = symbols.size() == 1 && symbols[0].index == index && symbols[0].bytes == word.size();
      whole_[index].store(yes ? Known::kYes : Known::kNo, std::memory_order_relaxed);
    }
    uint32_t at = 0;
    for (const Symbol& s : symbols) {
      out.push_back({vocabulary_.Id(s.index), at, at + s.bytes, vocabulary_.Token(s.index)});
      at += s.bytes;
    }
    if (symbols.capacity() > 1 << 20)
      std::vector<Symbol>().swap(symbols);  // gives back the memory of a long word
    return {};
  }

  // Collects characters that are not in the vocabulary.
  struct Pending {
    bool any = false;
    uint32_t bytes = 0;
  };

  Status PutUnknown(uint32_t bytes, Pending& pending, std::vector<Symbol>& symbols) const {
    if (!options_.unknown) return {};  // the character gives no token
    if (unknown_ == kNoToken)
      return InvalidModel("the vocabulary has no token '", *options_.unknown, "', which is the unk_token");
    if (pending.any && !options_.fuse_unknown) Flush(pending, symbols);
    pending = {true, pending.bytes + bytes};
    return {};
  }
  void Flush(Pending& pending, std::vector<Symbol>& symbols) const {
    if (pending.any) symbols.push_back({unknown_, pending.bytes});
    pending = {};
  }

  Status Divide(std::string_view word, std::vector<Symbol>& symbols) const {
    Pending pending;
    std::string affixed;
    for (size_t at = 0; at < word.size();) {
      const size_t n = CodePointBytes(word[at]);
      std::string_view text = word.substr(at, n);
      const bool prefix = at > 0 && !options_.prefix.empty(), suffix = at + n == word.size();
      if (prefix || (suffix && !options_.suffix.empty())) {
        affixed = StrCat(prefix ? options_.prefix : "", text, suffix ? options_.suffix : "");
        text = affixed;
      }
      at += n;
      if (const uint32_t index = vocabulary_.Index(text); index != kNoToken) {
        Flush(pending, symbols);
        symbols.push_back({index, static_cast<uint32_t>(n)});
      } else if (!options_.byte_fallback || !PutBytes(text, symbols)) {
        TERN_TRY(PutUnknown(static_cast<uint32_t>(n), pending, symbols));
      }
    }
    Flush(pending, symbols);
    return {};
  }

  // Appends the tokens of the bytes. Returns false if one is missing. Does not flush pending unknown
  // characters, so their token comes after the bytes, as in the `tokenizers` package.
  bool PutBytes(std::string_view text, std::vector<Symbol>& symbols) const {
    const auto missing = [this](char b) { return byte_tokens_[static_cast<unsigned char>(b)] == kNoToken; };
    if (std::any_of(text.begin(), text.end(), missing)) return false;
    for (const char b : text) symbols.push_back({byte_tokens_[static_cast<unsigned char>(b)], 1});
    return true;
  }

  Status DivideBytes(std::string_view word, std::vector<Symbol>& symbols) const {
    Pending pending;
    for (const char b : word) {
      const uint32_t index = byte_symbols_[static_cast<unsigned char>(b)];
      if (index != kNoToken) {
        Flush(pending, symbols);
        symbols.push_back({index, 1});
      } else {
        TERN_TRY(PutUnknown(1, pending, symbols));
      }
    }
    Flush(pending, symbols);
    return {};
  }

  BpeOptions options_;
  MergeTable merges_;
  std::vector<uint32_t> byte_tokens_;
  mutable std::vector<std::atomic<Known>> whole_;
  uint32_t unknown_ = kNoToken;
  bool accepts_bytes_ = false;
  StringTable bytes_;  // the bytes of tokens, for TokenizeBytes
  std::vector<uint32_t> index_of_bytes_;
  uint32_t byte_symbols_[256];
};

}  // namespace

Result<std::unique_ptr<Model>> MakeBpe(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                       BpeOptions options) {
  return Bpe::Make(std::move(vocabulary), merges, std::move(options));
}

}  // namespace tern::data
