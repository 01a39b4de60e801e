// Converts text to the ids that a language model reads, and ids back to text. A Tokenizer is read from a
// Hugging Face `tokenizer.json` and gives the results of the `tokenizers` Python package.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stop.h"

namespace tern::data {

// The tokens of one text or of a pair of texts. All vectors have one element per token.
struct Encoding {
  std::vector<int64_t> ids;
  std::vector<int64_t> type_ids;             // the segment of the token, which BERT calls token type
  std::vector<int64_t> attention_mask;       // 0 for padding, else 1
  std::vector<int64_t> special_tokens_mask;  // 1 for tokens that the post-processor or the padding added
  std::vector<std::string> tokens;
  // The characters of the original text that the token covers, as [begin, end). The unit is the code point.
  // Tokens that the post-processor or the padding added have (0, 0).
  std::vector<std::pair<size_t, size_t>> offsets;
  std::vector<int64_t> words;  // the index of the word that contains the token, or -1
  // 0 for the first text, 1 for the second, -1 for tokens that the post-processor or the padding added.
  std::vector<int64_t> sequence_ids;

  size_t size() const { return ids.size(); }
};

enum class Side { kLeft, kRight };

struct Truncation {
  enum class Strategy { kLongestFirst, kOnlyFirst, kOnlySecond };
  size_t max_length = 512;  // tokens, with those that the post-processor adds
  size_t stride = 0;        // only checked, because tokens that do not fit are dropped
  Strategy strategy = Strategy::kLongestFirst;
  Side side = Side::kRight;  // the side from which tokens are removed
};

struct Padding {
  std::optional<size_t> fixed_length;  // without it, pads to the longest encoding of the batch
  size_t multiple_of = 0;              // rounds the length up to a multiple of this; 0: no rounding
  Side side = Side::kRight;            // the side to which padding is added
  int64_t id = 0;
  int64_t type_id = 0;
  std::string token = "[PAD]";
};

// Immutable. All methods are thread-safe.
class Tokenizer {
 public:
  // Errors name the place in the JSON document. A component or an option that Tern does not implement gives
  // kUnsupported.
  static Result<std::shared_ptr<const Tokenizer>> Parse(std::string_view tokenizer_json);
  static Result<std::shared_ptr<const Tokenizer>> Load(const std::string& path);
  ~Tokenizer();

  // `text` must be at most 64 MiB of UTF-8. If it is not UTF-8, the error names the first invalid byte.
  // `add_special_tokens` applies the post-processor's template, such as [CLS] ... [SEP]. Applies truncation()
  // and padding().
  Result<Encoding> Encode(std::string_view text, bool add_special_tokens = true) const;
  Result<Encoding> EncodePair(std::string_view first, std::string_view second,
                              bool add_special_tokens = true) const;
  // Encodes each text and pads all encodings according to padding(). Checks `stop` before each text.
  Result<std::vector<Encoding>> EncodeBatch(const std::vector<std::string>& texts,
                                            bool add_special_tokens = true, const Stop& stop = {}) const;
  Result<std::vector<Encoding>> EncodePairBatch(const std::vector<std::pair<std::string, std::string>>& pairs,
                                                bool add_special_tokens = true) const;

  // Omits unknown ids. Bytes that do not form UTF-8 become U+FFFD.
  Result<std::string> Decode(const std::vector<int64_t>& ids, bool skip_special_tokens = true) const;

  // The number of tokens, with added tokens.
  int64_t vocabulary_size() const;
  std::optional<int64_t> TokenToId(std::string_view token) const;
  std::optional<std::string> IdToToken(int64_t id) const;

  // Return the settings of the file, unless With has replaced them.
  const std::optional<Truncation>& truncation() const;
  const std::optional<Padding>& padding() const;
  // Returns a tokenizer with other settings, which shares the vocabulary. Fails if max_length is smaller than
  // the number of special tokens of one text plus the stride.
  Result<std::shared_ptr<const Tokenizer>> With(std::optional<Truncation> truncation,
                                                std::optional<Padding> padding) const;

 private:
  struct Parts;
  Tokenizer(std::shared_ptr<const Parts> parts, std::optional<Truncation> truncation,
            std::optional<Padding> padding);
  // `second` may be null. The result is not padded.
  Result<Encoding> EncodeOne(std::string_view first, const std::string_view* second,
                             bool add_special_tokens) const;
  Result<Encoding> Finish(std::vector<Encoding> parts, bool add_special_tokens) const;
  Result<std::vector<Encoding>> Padded(std::vector<Encoding> encodings) const;

  std::shared_ptr<const Parts> parts_;
  std::optional<Truncation> truncation_;
  std::optional<Padding> padding_;
};

}  // namespace tern::data
