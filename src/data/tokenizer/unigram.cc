#include <algorithm>
#include <cmath>

#include "data/tokenizer/code_points.h"
#include "data/tokenizer/model.h"
#include "data/tokenizer/trie.h"

namespace tern::data {
namespace {

constexpr double kUnknownPenalty = 10;

class Unigram : public Model {
 public:
  Unigram(Vocabulary vocabulary, std::vector<double> scores, UnigramOptions options, Trie trie)
      : Model(std::move(vocabulary)),
        options_(options),
        scores_(std::move(scores)),
        trie_(std::move(trie)),
        byte_tokens_(ByteTokens(vocabulary_)),
        unknown_score_(*std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty) {}

  Status Tokenize(std::string_view word, std::vector<Token>& out) const override {
    std::vector<Step> best(word.size() + 1);
    TERN_TRY(FindBest(word, best));
    // The best path is known from its end. Neighbouring unknown characters form one token.
    std::vector<uint32_t> ends;
    for (size_t end = word.size(); end > 0;) {
      size_t begin = best[end].begin;
      while (begin > 0 && Unknown(best[end].id) && Unknown(best[begin].id)) begin = best[begin].begin;
      ends.push_back(static_cast<uint32_t>(end));
      end = begin;
    }
    size_t begin = 0;
    for (auto end = ends.rbegin(); end != ends.rend(); begin = *end++)
      TERN_TRY(Put(word, begin, *end, best[*end].id, out));
    return {};
  }

  size_t size() const override { return scores_.size(); }

 private:
  // The last token of the best division of the word up to some position.
  struct Step {
    double score = 0;
    uint32_t begin = kNoToken;
    uint32_t id = 0;
  };

  bool Unknown(uint32_t id) const { return options_.unknown && id == *options_.unknown; }

  Status FindBest(std::string_view word, std::vector<Step>& best) const {
    const auto reach = [&](size_t begin, size_t end, double score, uint32_t id) {
      Step& step = best[end];
      if (step.begin == kNoToken || score > step.score) step = {score, static_cast<uint32_t>(begin), id};
    };
    for (size_t at = 0; at < word.size();) {
      const double so_far = best[at].score;
      const size_t next = at + CodePointBytes(word[at]);
      bool has_single = false;
      uint32_t node = Trie::kRoot;
      for (size_t end = at; end < word.size();) {
        node = trie_.Child(node, word[end++]);
        if (node == Trie::kNone) break;
        const uint32_t id = trie_.Value(node);
        if (id == Trie::kNone) continue;
        reach(at, end, scores_[id] + so_far, id);
        has_single |= end == next;
      }
      if (!has_single) {
        if (!options_.unknown) return NoUnknown();
        reach(at, next, unknown_score_ + so_far, *options_.unknown);
      }
      at = next;
    }
    return {};
  }

  Status Put(std::string_view word, size_t begin, size_t end, uint32_t id, std::vector<Token>& out) const {
    const std::string_view text = word.substr(begin, end - begin);
    const auto first = static_cast<uint32_t>(begin), last = static_cast<uint32_t>(end);
    // The vocabulary may contain the whole run of unknown characters.
    if (Unknown(id)) id = vocabulary_.FindId(text).value_or(kNoToken);
    if (id != kNoToken) {
      out.push_back({id, first, last, text});
      return {};
    }
    const auto missing = [this](char b) { return byte_tokens_[static_cast<unsigned char>(b)] == kNoToken; };
    if (options_.byte_fallback && std::none_of(text.begin(), text.end(), missing)) {
      for (const char b : text) {
        const uint32_t token = byte_tokens_[static_cast<unsigned char>(b)];
        out.push_back({vocabulary_.Id(token), first, last, vocabulary_.Token(token)});
      }
      return {};
    }
    if (!options_.unknown) return NoUnknown();
    out.push_back({*options_.unknown, first, last, text});
    return {};
  }

  static Status NoUnknown() { return InvalidModel("a character is unknown, and the model has no unk_id"); }

  UnigramOptions options_;
  std::vector<double> scores_;
  Trie trie_;
  std::vector<uint32_t> byte_tokens_;
  double unknown_score_;
};

}  // namespace

Result<std::unique_ptr<Model>> MakeUnigram(Vocabulary vocabulary, std::vector<double> scores,
                                           UnigramOptions options) {
  if (scores.empty()) return InvalidModel("the vocabulary of the Unigram model is empty");
  if (options.unknown && *options.unknown >= scores.size())
    return InvalidModel("unk_id is ", *options.unknown, ", but the vocabulary has ", scores.size(),
                        " tokens");
  std::vector<Trie::Entry> entries;
  entries.reserve(vocabulary.size());
  for (uint32_t i = 0; i < vocabulary.size(); ++i) {
    if (vocabulary.Id(i) >= scores.size())
      return InvalidModel("token id ", vocabulary.Id(i), " has no score");
    if (!vocabulary.Token(i).empty()) entries.push_back({vocabulary.Token(i), vocabulary.Id(i)});
  }
  TERN_ASSIGN(Trie trie, Trie::Build(std::move(entries)));
  return std::unique_ptr<Model>(
      std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), options, std::move(trie)));
}

}  // namespace tern::data
