#include "data/tokenizer/decoder.h"

#include <algorithm>
#include <numeric>

#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/code_points.h"
#include "data/tokenizer/pattern.h"
#include "data/tokenizer/pre_tokenizer.h"

namespace tern::data {
namespace {

void ReplaceAll(std::string& text, std::string_view old_text, std::string_view new_text) {
  if (old_text.empty()) return;
  for (size_t i = text.find(old_text); i != text.npos; i = text.find(old_text, i + new_text.size()))
    text.replace(i, old_text.size(), new_text);
}

// Removes the spaces that English text does not have before punctuation and contractions.
void CleanUp(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) ReplaceAll(text, from, to);
}

class WordPiece : public Decoder {
 public:
  WordPiece(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  Status Apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        if (tokens[i].starts_with(prefix_))
          tokens[i].erase(0, prefix_.size());
        else
          tokens[i] = StrCat(" ", tokens[i]);
      }
      if (cleanup_) CleanUp(tokens[i]);
    }
    return {};
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class ByteLevel : public Decoder {
  Status Apply(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) {
      if (const auto decoded = BytesOfCharacters(token))
        bytes += *decoded;
      else
        bytes += token;
    }
    tokens = {ReplaceInvalidUtf8(bytes)};
    return {};
  }
};

class Metaspace : public Decoder {
 public:
  explicit Metaspace(const MetaspaceOptions& options) : prepend_(options.prepend) {
    AppendCodePoint(options.replacement, mark_);
  }
  Status Apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i)
      ReplaceAll(tokens[i], mark_, i == 0 && prepend_ != PrependScheme::kNever ? "" : " ");
    return {};
  }

 private:
  std::string mark_;
  PrependScheme prepend_;
};

class Bpe : public Decoder {
 public:
  explicit Bpe(std::string suffix) : suffix_(std::move(suffix)) {}
  Status Apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i)
      ReplaceAll(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    return {};
  }

 private:
  std::string suffix_;
};

// Joins the bytes of tokens such as <0xE2>. If they are not UTF-8, each byte becomes U+FFFD.
class ByteFallback : public Decoder {
  Status Apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> out;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (FindInvalidUtf8(bytes) == std::string::npos)
        out.push_back(bytes);
      else
        out.insert(out.end(), bytes.size(), "\xef\xbf\xbd");
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const int byte = Byte(token); byte >= 0) {
        bytes.push_back(static_cast<char>(byte));
        continue;
      }
      flush();
      out.push_back(std::move(token));
    }
    flush();
    tokens = std::move(out);
    return {};
  }
  static int Byte(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
    const auto digit = [](char c) {
      return c >= '0' && c <= '9'   ? c - '0'
             : c >= 'a' && c <= 'f' ? c - 'a' + 10
             : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                    : -1;
    };
    if (token[3] == '+')
      return digit(token[4]);  // the number parser of the `tokenizers` package accepts a sign
    const int high = digit(token[3]), low = digit(token[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
  }
};

class Fuse : public Decoder {
  Status Apply(std::vector<std::string>& tokens) const override {
    tokens = {std::accumulate(tokens.begin(), tokens.end(), std::string(),
                              [](std::string all, const std::string& t) { return std::move(all) += t; })};
    return {};
  }
};

// Removes up to `start` and `stop` copies of a character from the ends of each token.
class Strip : public Decoder {
 public:
  Strip(char32_t content, uint64_t start, uint64_t stop) : start_(start), stop_(stop) {
    AppendCodePoint(content, content_);
  }
  Status Apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (uint64_t n = 0; n < start_ && rest.starts_with(content_); ++n) rest.remove_prefix(content_.size());
      for (uint64_t n = 0; n < stop_ && rest.ends_with(content_); ++n) rest.remove_suffix(content_.size());
      token = std::string(rest);
    }
    return {};
  }

 private:
  std::string content_;
  uint64_t start_, stop_;
};

class Replace : public Decoder {
 public:
  Replace(std::unique_ptr<Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  Status Apply(std::vector<std::string>& tokens) const override {
    std::vector<ByteSpan> matches;
    for (std::string& token : tokens) {
      TERN_TRY(pattern_->FindAll(token, matches));
      if (matches.empty()) continue;
      if (content_.size() * matches.size() > kMaxTextBytes)
        return ResourceExhausted("the decoder Replace makes the text longer than ", kMaxTextBytes, " bytes");
      std::string out;
      size_t done = 0;
      for (const ByteSpan& m : matches) {
        out.append(token, done, m.begin - done);
        out += content_;
        done = m.end;
      }
      token = out.append(token, done);
    }
    return {};
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  std::string content_;
};

class Ctc : public Decoder {
 public:
  Ctc(std::string pad, std::string delimiter, bool cleanup)
      : pad_(std::move(pad)), delimiter_(std::move(delimiter)), cleanup_(cleanup) {}
  Status Apply(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      ReplaceAll(token, pad_, "");
      if (!cleanup_) continue;
      CleanUp(token);
      ReplaceAll(token, delimiter_, " ");
    }
    std::erase_if(tokens, [](const std::string& t) { return t.empty(); });
    return {};
  }

 private:
  std::string pad_, delimiter_;
  bool cleanup_;
};

class Sequence : public Decoder {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Decoder>> steps) : steps_(std::move(steps)) {}
  Status Apply(std::vector<std::string>& tokens) const override {
    for (const auto& step : steps_) TERN_TRY(step->Apply(tokens));
    return {};
  }

 private:
  std::vector<std::unique_ptr<Decoder>> steps_;
};

using Made = Result<std::unique_ptr<Decoder>>;
template <class T, class... A> Made Make(A&&... a) {
  return std::unique_ptr<Decoder>(std::make_unique<T>(std::forward<A>(a)...));
}

Made ParseWordPiece(const JsonNode& node) {
  TERN_ASSIGN(std::string prefix, node.StringField("prefix"));
  TERN_ASSIGN(const bool cleanup, node.BoolField("cleanup"));
  return Make<WordPiece>(std::move(prefix), cleanup);
}

Made ParseStrip(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode content, node.Field("content"));
  TERN_ASSIGN(const char32_t character, content.Character());
  TERN_ASSIGN(const uint64_t start, node.UnsignedField("start", INT64_MAX));
  TERN_ASSIGN(const uint64_t stop, node.UnsignedField("stop", INT64_MAX));
  return Make<Strip>(character, start, stop);
}

Made ParseReplace(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode field, node.Field("pattern"));
  TERN_ASSIGN(auto pattern, ParsePattern(field));
  TERN_ASSIGN(std::string content, node.StringField("content"));
  return Make<Replace>(std::move(pattern), std::move(content));
}

Made ParseCtc(const JsonNode& node) {
  TERN_ASSIGN(std::string pad, node.StringField("pad_token"));
  TERN_ASSIGN(std::string delimiter, node.StringField("word_delimiter_token"));
  TERN_ASSIGN(const bool cleanup, node.BoolField("cleanup"));
  return Make<Ctc>(std::move(pad), std::move(delimiter), cleanup);
}

Made ParseSequence(const JsonNode& node, int depth) {
  TERN_ASSIGN(const JsonNode field, node.Field("decoders"));
  TERN_ASSIGN(const auto items, field.Items());
  std::vector<std::unique_ptr<Decoder>> steps;
  for (const JsonNode& item : items) {
    TERN_ASSIGN(auto step, ParseDecoder(item, depth + 1));
    steps.push_back(std::move(step));
  }
  return Make<Sequence>(std::move(steps));
}

}  // namespace

Made ParseDecoder(const JsonNode& node, int depth) {
  if (depth > kMaxNesting) return node.Invalid("the sequences are nested too deeply");
  TERN_ASSIGN(const std::string type, node.StringField("type"));
  if (type == "WordPiece") return ParseWordPiece(node);
  if (type == "ByteLevel") return Make<ByteLevel>();
  if (type == "Metaspace") {
    TERN_ASSIGN(const MetaspaceOptions options, ParseMetaspaceOptions(node));
    return Make<Metaspace>(options);
  }
  if (type == "BPEDecoder") {
    TERN_ASSIGN(std::string suffix, node.StringField("suffix"));
    return Make<Bpe>(std::move(suffix));
  }
  if (type == "ByteFallback") return Make<ByteFallback>();
  if (type == "Fuse") return Make<Fuse>();
  if (type == "Strip") return ParseStrip(node);
  if (type == "Replace") return ParseReplace(node);
  if (type == "CTC") return ParseCtc(node);
  if (type == "Sequence") return ParseSequence(node, depth);
  return Unsupported(node.path(), ": the decoder '", type, "' is not supported");
}

}  // namespace tern::data
