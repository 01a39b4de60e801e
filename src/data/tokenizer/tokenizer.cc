#include "data/tokenizer/tokenizer.h"

#include <algorithm>

#include "data/file.h"
#include "data/tokenizer/added_tokens.h"
#include "data/tokenizer/decoder.h"
#include "data/tokenizer/encoding.h"
#include "data/tokenizer/parse_model.h"
#include "data/tokenizer/post_processor.h"
#include "data/tokenizer/pre_tokenizer.h"

namespace tern::data {

// The contents of a file, except truncation and padding.
struct Tokenizer::Parts {
  std::unique_ptr<data::Model> model;
  std::unique_ptr<Normalizer> normalizer;         // may be null
  std::unique_ptr<PreTokenizer> pre_tokenizer;    // may be null
  std::unique_ptr<PostProcessor> post_processor;  // may be null
  std::unique_ptr<Decoder> decoder;               // may be null
  AddedTokens added;
  bool bytes = false;  // the pre-tokenizer leaves bytes for the model

  Status Tokenize(std::string_view word, std::vector<Token>& out) const {
    return bytes ? model->TokenizeBytes(word, out) : model->Tokenize(word, out);
  }
  // Stops when the encoding has at least `limit` tokens.
  Result<Encoding> EncodeText(std::string_view text, int64_t sequence, size_t limit) const;
  std::optional<std::string_view> TokenOf(uint32_t id) const {
    const auto token = added.FindToken(id);
    return token ? token : model->vocabulary().FindToken(id);
  }
};

namespace {

// Converts positions of bytes to positions of code points.
class Characters {
 public:
  explicit Characters(std::string_view text) : size_(text.size()) {
    if (IsAscii(text)) return;
    index_.resize(text.size());
    uint32_t count = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      count += !IsContinuation(text[i]);
      index_[i] = count - 1;
    }
  }
  std::pair<size_t, size_t> Convert(size_t begin, size_t end) const {
    if (index_.empty() || begin >= size_) return {begin, end};
    return {index_[begin], end < size_ ? index_[end] : size_t{index_[size_ - 1]} + 1};
  }

 private:
  size_t size_;
  std::vector<uint32_t> index_;  // the code point of each byte; empty for ASCII
};

Status CheckText(std::string_view text) {
  if (text.size() > kMaxTextBytes)
    return InvalidArgument("the text has ", text.size(), " bytes, at most ", kMaxTextBytes, " are allowed");
  if (const size_t bad = FindInvalidUtf8(text); bad != std::string_view::npos)
    return InvalidArgument("the text is not UTF-8 at byte ", bad, " of ", text.size());
  return {};
}

class EncodingBuilder {
 public:
  EncodingBuilder(std::string_view text, const Pieces& pieces, int64_t sequence)
      : characters_(text), pieces_(pieces), sequence_(sequence) {
    const size_t guess = text.size() / 4 + 8;
    encoding_.ids.reserve(guess);
    encoding_.tokens.reserve(guess);
    encoding_.offsets.reserve(guess);
    encoding_.words.reserve(guess);
  }
  void Add(const Piece& piece, size_t word, const Token& token) {
    encoding_.ids.push_back(token.id);
    encoding_.tokens.emplace_back(token.text);
    encoding_.words.push_back(static_cast<int64_t>(word));
    const size_t last = std::min(piece.begin + size_t{token.end}, size_t{piece.end}) - 1;
    const ByteSpan from = pieces_.SpanAt(piece.begin + token.begin), to = pieces_.SpanAt(last);
    encoding_.offsets.push_back(characters_.Convert(from.begin, to.end));
  }
  size_t size() const { return encoding_.ids.size(); }
  Encoding Finish() {
    const size_t n = encoding_.ids.size();
    encoding_.type_ids.assign(n, sequence_);
    encoding_.attention_mask.assign(n, 1);
    encoding_.special_tokens_mask.assign(n, 0);
    encoding_.sequence_ids.assign(n, sequence_);
    return std::move(encoding_);
  }

 private:
  Characters characters_;
  const Pieces& pieces_;
  int64_t sequence_;
  Encoding encoding_;
};

template <class T, class F> Status ParsePart(const JsonNode& root, std::string_view name, T& out, F&& parse) {
  if (const auto node = root.Find(name)) {
    TERN_ASSIGN(out, parse(*node));
  }
  return {};
}

}  // namespace

Result<Encoding> Tokenizer::Parts::EncodeText(std::string_view text, int64_t sequence, size_t limit) const {
  TERN_TRY(CheckText(text));
  TERN_ASSIGN(Pieces pieces, added.Extract(text, normalizer.get()));
  if (pre_tokenizer) TERN_TRY(pre_tokenizer->Apply(pieces));
  EncodingBuilder builder(text, pieces, sequence);
  std::vector<Token> tokens;
  for (size_t i = 0; i < pieces.pieces().size() && builder.size() < limit; ++i) {
    const Piece& piece = pieces.pieces()[i];
    const std::string_view word = pieces.View(piece);
    tokens.clear();
    if (piece.added)
      tokens.push_back({*piece.added, 0, static_cast<uint32_t>(word.size()), word});
    else
      TERN_TRY(Tokenize(word, tokens));
    for (const Token& token : tokens) builder.Add(piece, i, token);
  }
  return builder.Finish();
}

Tokenizer::Tokenizer(std::shared_ptr<const Parts> parts, std::optional<Truncation> truncation,
                     std::optional<Padding> padding)
    : parts_(std::move(parts)), truncation_(std::move(truncation)), padding_(std::move(padding)) {}

Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> Tokenizer::Parse(std::string_view json) {
  return Guard([&]() -> Result<std::shared_ptr<const Tokenizer>> {
    simdjson::dom::parser parser;
    simdjson::dom::element document;
    const simdjson::padded_string padded(json);
    if (const auto error = parser.parse(padded).get(document))
      return InvalidModel("not JSON: ", simdjson::error_message(error));
    const JsonNode root(document, "");
    TERN_ASSIGN(const std::string version, root.StringField("version", "1.0"));
    if (version != "1.0")
      return Unsupported("version '", version, "' of the tokenizer format; 1.0 is supported");
    auto parts = std::make_shared<Parts>();
    TERN_TRY(
        ParsePart(root, "normalizer", parts->normalizer, [](const auto& n) { return ParseNormalizer(n); }));
    TERN_TRY(ParsePart(root, "pre_tokenizer", parts->pre_tokenizer,
                       [](const auto& n) { return ParsePreTokenizer(n); }));
    TERN_TRY(ParsePart(root, "post_processor", parts->post_processor,
                       [](const auto& n) { return ParsePostProcessor(n); }));
    TERN_TRY(ParsePart(root, "decoder", parts->decoder, [](const auto& n) { return ParseDecoder(n); }));
    TERN_ASSIGN(const JsonNode model, root.Field("model"));
    TERN_ASSIGN(parts->model, ParseModel(model));
    TERN_TRY(ParsePart(root, "added_tokens", parts->added, [&](const auto& n) {
      return AddedTokens::Parse(n, *parts->model, parts->normalizer.get());
    }));
    parts->bytes = parts->model->accepts_bytes() && parts->pre_tokenizer && parts->pre_tokenizer->KeepBytes();
    std::optional<Truncation> truncation;
    std::optional<Padding> padding;
    TERN_TRY(ParsePart(root, "truncation", truncation, [](const auto& n) { return ParseTruncation(n); }));
    TERN_TRY(ParsePart(root, "padding", padding, [](const auto& n) { return ParsePadding(n); }));
    return Tokenizer(std::move(parts), {}, {}).With(std::move(truncation), std::move(padding));
  });
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::Load(const std::string& path) {
  TERN_ASSIGN(const std::string bytes, ReadFile(path));
  auto tokenizer = Parse(bytes);
  if (!tokenizer.ok()) return tokenizer.TakeStatus().While(StrCat("loading '", path, "'"));
  return tokenizer;
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::With(std::optional<Truncation> truncation,
                                                         std::optional<Padding> padding) const {
  if (truncation) {
    const size_t added = parts_->post_processor ? parts_->post_processor->added(false) : 0;
    if (truncation->max_length < added || truncation->max_length - added < truncation->stride)
      return InvalidArgument("truncation: max_length is ", truncation->max_length, ", of which ", added,
                             " are special tokens; the rest must not be less than the stride ",
                             truncation->stride);
  }
  return std::shared_ptr<const Tokenizer>(new Tokenizer(parts_, std::move(truncation), std::move(padding)));
}

Result<Encoding> Tokenizer::Finish(std::vector<Encoding> parts, bool add_special_tokens) const {
  const bool pair = parts.size() == 2;
  const PostProcessor* post = parts_->post_processor.get();
  if (truncation_) {
    const size_t added = post && add_special_tokens ? post->added(pair) : 0;
    if (truncation_->max_length < added)
      return InvalidArgument("truncation: max_length is ", truncation_->max_length, ", but ", added,
                             " special tokens are added");
    TERN_TRY(Truncate(*truncation_, truncation_->max_length - added, parts[0], pair ? &parts[1] : nullptr));
  }
  if (post) TERN_TRY(post->Apply(parts, add_special_tokens));
  Encoding out;
  for (Encoding& part : parts) AppendEncoding(out, std::move(part));
  return out;
}

Result<Encoding> Tokenizer::EncodeOne(std::string_view first, const std::string_view* second,
                                      bool add_special_tokens) const {
  const bool cut_end = truncation_ && !second && truncation_->side == Side::kRight &&
                       truncation_->strategy != Truncation::Strategy::kOnlySecond;
  const size_t limit = cut_end ? truncation_->max_length : SIZE_MAX;
  std::vector<Encoding> parts;
  TERN_ASSIGN(Encoding a, parts_->EncodeText(first, 0, limit));
  parts.push_back(std::move(a));
  if (second) {
    TERN_ASSIGN(Encoding b, parts_->EncodeText(*second, 1, limit));
    parts.push_back(std::move(b));
  }
  return Finish(std::move(parts), add_special_tokens);
}

Result<std::vector<Encoding>> Tokenizer::Padded(std::vector<Encoding> encodings) const {
  if (padding_) TERN_TRY(Pad(*padding_, encodings));
  return encodings;
}

Result<Encoding> Tokenizer::Encode(std::string_view text, bool add_special_tokens) const {
  return Guard([&]() -> Result<Encoding> {
    TERN_ASSIGN(Encoding encoding, EncodeOne(text, nullptr, add_special_tokens));
    if (!padding_) return encoding;
    std::vector<Encoding> one;
    one.push_back(std::move(encoding));
    TERN_TRY(Pad(*padding_, one));
    return std::move(one[0]);
  });
}

Result<Encoding> Tokenizer::EncodePair(std::string_view first, std::string_view second,
                                       bool add_special_tokens) const {
  return Guard([&]() -> Result<Encoding> {
    TERN_ASSIGN(auto encodings,
                EncodePairBatch({{std::string(first), std::string(second)}}, add_special_tokens));
    return std::move(encodings[0]);
  });
}

Result<std::vector<Encoding>> Tokenizer::EncodeBatch(const std::vector<std::string>& texts,
                                                     bool add_special_tokens, const Stop& stop) const {
  return Guard([&]() -> Result<std::vector<Encoding>> {
    std::vector<Encoding> encodings;
    for (size_t i = 0; i < texts.size(); ++i) {
      TERN_TRY(stop.Check());
      auto encoding = EncodeOne(texts[i], nullptr, add_special_tokens);
      if (!encoding.ok()) return encoding.TakeStatus().While(StrCat("encoding text ", i));
      encodings.push_back(*std::move(encoding));
    }
    return Padded(std::move(encodings));
  });
}

Result<std::vector<Encoding>> Tokenizer::EncodePairBatch(
    const std::vector<std::pair<std::string, std::string>>& pairs, bool add_special_tokens) const {
  return Guard([&]() -> Result<std::vector<Encoding>> {
    std::vector<Encoding> encodings;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const std::string_view second = pairs[i].second;
      auto encoding = EncodeOne(pairs[i].first, &second, add_special_tokens);
      if (!encoding.ok()) return encoding.TakeStatus().While(StrCat("encoding pair ", i));
      encodings.push_back(*std::move(encoding));
    }
    return Padded(std::move(encodings));
  });
}

Result<std::string> Tokenizer::Decode(const std::vector<int64_t>& ids, bool skip_special_tokens) const {
  return Guard([&]() -> Result<std::string> {
    std::vector<std::string> tokens;
    size_t bytes = 0;
    for (const int64_t id : ids) {
      if (id < 0 || id >= UINT32_MAX) continue;
      const auto token = parts_->TokenOf(static_cast<uint32_t>(id));
      if (!token || (skip_special_tokens && parts_->added.IsSpecial(*token))) continue;
      tokens.emplace_back(*token);
      if ((bytes += token->size()) > kMaxTextBytes)
        return ResourceExhausted("the decoded text is longer than ", kMaxTextBytes, " bytes");
    }
    if (parts_->decoder) TERN_TRY(parts_->decoder->Apply(tokens));
    std::string out;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && !parts_->decoder) out += ' ';
      out += tokens[i];
    }
    return out;
  });
}

int64_t Tokenizer::vocabulary_size() const {
  int64_t size = static_cast<int64_t>(parts_->model->size());
  for (const auto& [token, id] : parts_->added.ids()) size += !parts_->model->vocabulary().FindId(token);
  return size;
}

std::optional<int64_t> Tokenizer::TokenToId(std::string_view token) const {
  const auto id = parts_->added.FindId(token);
  return id ? id : parts_->model->vocabulary().FindId(token);
}

std::optional<std::string> Tokenizer::IdToToken(int64_t id) const {
  if (id < 0 || id >= UINT32_MAX) return std::nullopt;
  const auto token = parts_->TokenOf(static_cast<uint32_t>(id));
  if (!token) return std::nullopt;
  return std::string(*token);
}

const std::optional<Truncation>& Tokenizer::truncation() const { return truncation_; }
const std::optional<Padding>& Tokenizer::padding() const { return padding_; }

}  // namespace tern::data
