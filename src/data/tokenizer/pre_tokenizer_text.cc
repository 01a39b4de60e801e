// The pre-tokenizers that change the text: ByteLevel and Metaspace.
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/pre_tokenizer.h"
#include "data/tokenizer/scanners.h"

namespace tern::data {
namespace {

class ByteLevel : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, bool use_regex)
      : add_prefix_space_(add_prefix_space), use_regex_(use_regex) {}
  bool KeepBytes() override {
    keep_bytes_ = true;
    return true;
  }

  Status Apply(Pieces& pieces) const override {
    if (add_prefix_space_) AddPrefixSpace(pieces);
    if (use_regex_) {
      const CodePointTable& classes = CharClasses();
      pieces.Divide([&](std::string_view text, auto&& put) {
        for (size_t i = 0; i < text.size();) {
          const size_t end = NextMatch(Scanner::kGpt2, classes, text, i);
          put(i, end);
          i = end;
        }
      });
    }
    if (!keep_bytes_) WriteCharacters(pieces);
    return {};
  }

 private:
  static void AddPrefixSpace(Pieces& pieces) {
    bool needed = false;
    for (const Piece& p : pieces.pieces()) needed |= !p.added && pieces.View(p)[0] != ' ';
    if (!needed) return;
    pieces.Replace([](std::string_view text, ByteSpan, auto&& put) {
      if (text[0] != ' ') put(" ", 0);
      for (size_t i = 0; i < text.size(); ++i) put(text.substr(i, 1), i);
    });
  }
  static void WriteCharacters(Pieces& pieces) {
    std::string character;
    pieces.Replace([&](std::string_view text, ByteSpan, auto&& put) {
      for (size_t i = 0; i < text.size(); ++i) {
        character.clear();
        AppendByteCharacter(static_cast<unsigned char>(text[i]), character);
        put(character, i);
      }
    });
  }

  bool add_prefix_space_, use_regex_, keep_bytes_ = false;
};

class Metaspace : public PreTokenizer {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(options) {
    AppendCodePoint(options.replacement, mark_);
  }

  Status Apply(Pieces& pieces) const override {
    pieces.Replace([&](std::string_view text, ByteSpan source, auto&& put) {
      if (MustPrepend(text, source)) put(mark_, 0);
      for (size_t i = 0; i < text.size(); ++i)
        if (text[i] == ' ')
          put(mark_, i);
        else
          put(text.substr(i, 1), i);
    });
    if (options_.split)
      pieces.Divide([&](std::string_view text, auto&& put) {
        size_t begin = 0;
        for (size_t i = text.find(mark_); i != text.npos; i = text.find(mark_, i + mark_.size())) {
          put(begin, i);
          begin = i;
        }
        put(begin, text.size());
      });
    return {};
  }

 private:
  bool MustPrepend(std::string_view text, ByteSpan source) const {
    if (options_.prepend == PrependScheme::kNever || text[0] == ' ' || text.starts_with(mark_)) return false;
    return options_.prepend == PrependScheme::kAlways || source.begin == 0;
  }

  MetaspaceOptions options_;
  std::string mark_;
};

}  // namespace

Result<std::unique_ptr<PreTokenizer>> ParseByteLevelPreTokenizer(const JsonNode& node) {
  TERN_ASSIGN(const bool add_prefix_space, node.BoolField("add_prefix_space"));
  TERN_ASSIGN(const bool use_regex, node.BoolField("use_regex", true));
  return std::unique_ptr<PreTokenizer>(std::make_unique<ByteLevel>(add_prefix_space, use_regex));
}

Result<MetaspaceOptions> ParseMetaspaceOptions(const JsonNode& node) {
  MetaspaceOptions options{};
  TERN_ASSIGN(const JsonNode replacement, node.Field("replacement"));
  TERN_ASSIGN(options.replacement, replacement.Character());
  TERN_ASSIGN(options.split, node.BoolField("split", true));
  TERN_ASSIGN(const std::string scheme, node.StringField("prepend_scheme", "always"));
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return node.Invalid(StrCat("unknown prepend_scheme '", scheme, "'"));
  options.prepend = scheme == "always"  ? PrependScheme::kAlways
                    : scheme == "first" ? PrependScheme::kFirst
                                        : PrependScheme::kNever;
  TERN_ASSIGN(const bool add_prefix_space, node.BoolField("add_prefix_space", true));
  if (!add_prefix_space && options.prepend != PrependScheme::kNever)
    return node.Invalid("add_prefix_space is false, but prepend_scheme is not 'never'");
  return options;
}

Result<std::unique_ptr<PreTokenizer>> ParseMetaspacePreTokenizer(const JsonNode& node) {
  TERN_ASSIGN(const MetaspaceOptions options, ParseMetaspaceOptions(node));
  return std::unique_ptr<PreTokenizer>(std::make_unique<Metaspace>(options));
}

}  // namespace tern::data
