#include "data/tokenizer/normalizer.h"

#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/pattern.h"
#include "data/tokenizer/unicode.h"

namespace tern::data {
namespace {

void ApplyForm(NormalForm form, AlignedText& text) {
  if (MayChange(form, text.text())) text.Transform(Normalise(form, text.text()));
}

// Removes the characters of a class.
void RemoveClass(uint8_t remove, AlignedText& text) {
  const CodePointTable& classes = CharClasses();
  text.Rewrite([&](char32_t c, std::string& out) {
    if (!(classes[c] & remove)) AppendCodePoint(c, out);
  });
}

void LowerText(AlignedText& text) {
  if (IsAscii(text.text())) return text.LowerAscii();
  text.Rewrite([](char32_t c, std::string& out) {
    if (c < 0x80) {
      out.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
      return;
    }
    char32_t lower[2];
    const size_t n = LowerCase(c, lower);
    for (size_t i = 0; i < n; ++i) AppendCodePoint(lower[i], out);
  });
}

class Form : public Normalizer {
 public:
  explicit Form(NormalForm form) : form_(form) {}
  Status Apply(AlignedText& text) const override {
    ApplyForm(form_, text);
    return {};
  }

 private:
  NormalForm form_;
};

class Lowercase : public Normalizer {
  Status Apply(AlignedText& text) const override {
    LowerText(text);
    return {};
  }
};

class StripAccents : public Normalizer {
  Status Apply(AlignedText& text) const override {
    if (!IsAscii(text.text())) RemoveClass(kCombining, text);
    return {};
  }
};

class Strip : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  Status Apply(AlignedText& text) const override {
    const CodePointTable& classes = CharClasses();
    const std::string& s = text.text();
    size_t begin = 0, end = s.size();
    for (size_t next = 0; left_ && begin < end; begin = next)
      if (!(classes[NextCodePoint(s, next)] & kSpace)) break;
    for (size_t last = end; right_ && end > begin; end = last)
      if (!(classes[PreviousCodePoint(s, last)] & kSpace)) break;
    text.Keep(begin, end);
    return {};
  }

 private:
  bool left_, right_;
};

bool IsChinese(char32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
         (c >= 0x2a700 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0x2f800 && c <= 0x2fa1f);
}

class Bert : public Normalizer {
 public:
  Bert(bool clean, bool chinese, bool strip, bool lower)
      : clean_(clean), chinese_(chinese), strip_(strip), lower_(lower) {}

  Status Apply(AlignedText& text) const override {
    if (clean_ && NeedsCleaning(text.text())) Clean(text);
    const bool ascii = IsAscii(text.text());
    if (chinese_ && !ascii) SeparateChinese(text);
    if (strip_ && !ascii) {
      ApplyForm(NormalForm::kNfd, text);
      RemoveClass(kNonspacing, text);
    }
    if (lower_) LowerText(text);
    return {};
  }

 private:
  static bool NeedsCleaning(std::string_view text) {
    for (const char b : text)
      if (static_cast<unsigned char>(b) < 0x20 || static_cast<unsigned char>(b) >= 0x7f) return true;
    return false;
  }
  static void Clean(AlignedText& text) {
    const CodePointTable& classes = CharClasses();
    text.Rewrite([&](char32_t c, std::string& out) {
      const uint8_t found = classes[c];
      if (found & kOther) return;
      AppendCodePoint(found & kSpace ? U' ' : c, out);
    });
  }
  static void SeparateChinese(AlignedText& text) {
    text.Rewrite([](char32_t c, std::string& out) {
      const bool chinese = IsChinese(c);
      if (chinese) out.push_back(' ');
      AppendCodePoint(c, out);
      if (chinese) out.push_back(' ');
    });
  }
  bool clean_, chinese_, strip_, lower_;
};

class Nmt : public Normalizer {
  static bool Removed(char32_t c) {
    return (c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f;
  }
  static bool Blank(char32_t c) {
    return c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 || (c >= 0x200b && c <= 0x200f) ||
           c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xfeff || c == 0xfffd;
  }
  Status Apply(AlignedText& text) const override {
    text.Rewrite([](char32_t c, std::string& out) {
      if (!Removed(c)) AppendCodePoint(Blank(c) ? U' ' : c, out);
    });
    return {};
  }
};

class Replace : public Normalizer {
 public:
  Replace(std::unique_ptr<Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  Status Apply(AlignedText& text) const override {
    std::vector<ByteSpan> matches;
    TERN_TRY(pattern_->FindAll(text.text(), matches));
    return text.Replace(matches, content_);
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  std::string content_;
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string text) : text_(std::move(text)) {}
  Status Apply(AlignedText& text) const override {
    text.Prepend(text_);
    return {};
  }

 private:
  std::string text_;
};

class ByteLevelText : public Normalizer {
  Status Apply(AlignedText& text) const override {
    text.Rewrite([](char32_t c, std::string& out) {
      std::string bytes;
      AppendCodePoint(c, bytes);
      for (const char b : bytes) AppendByteCharacter(static_cast<unsigned char>(b), out);
    });
    return {};
  }
};

class Sequence : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> steps) : steps_(std::move(steps)) {}
  Status Apply(AlignedText& text) const override {
    for (const auto& step : steps_) {
      TERN_TRY(step->Apply(text));
      if (text.text().size() > text.limit())
        return ResourceExhausted("a normalizer makes the text longer than ", text.limit(), " bytes");
    }
    return {};
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

using Made = Result<std::unique_ptr<Normalizer>>;
template <class T, class... A> Made Make(A&&... a) {
  return std::unique_ptr<Normalizer>(std::make_unique<T>(std::forward<A>(a)...));
}

Made ParseSequence(const JsonNode& node, int depth) {
  TERN_ASSIGN(const JsonNode field, node.Field("normalizers"));
  TERN_ASSIGN(const auto items, field.Items());
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (const JsonNode& item : items) {
    TERN_ASSIGN(auto step, ParseNormalizer(item, depth + 1));
    steps.push_back(std::move(step));
  }
  return Make<Sequence>(std::move(steps));
}

Made ParseBert(const JsonNode& node) {
  TERN_ASSIGN(const bool clean, node.BoolField("clean_text"));
  TERN_ASSIGN(const bool chinese, node.BoolField("handle_chinese_chars"));
  TERN_ASSIGN(const bool lower, node.BoolField("lowercase"));
  TERN_ASSIGN(const bool strip, node.BoolField("strip_accents", lower));
  return Make<Bert>(clean, chinese, strip, lower);
}

Made ParseStrip(const JsonNode& node) {
  TERN_ASSIGN(const bool left, node.BoolField("strip_left"));
  TERN_ASSIGN(const bool right, node.BoolField("strip_right"));
  return Make<Strip>(left, right);
}

Made ParseReplace(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode field, node.Field("pattern"));
  TERN_ASSIGN(auto pattern, ParsePattern(field));
  TERN_ASSIGN(std::string content, node.StringField("content"));
  return Make<Replace>(std::move(pattern), std::move(content));
}

Made ParsePrecompiled(const JsonNode& node) {
  TERN_ASSIGN(const std::string map, node.StringField("precompiled_charsmap"));
  return MakePrecompiled(map);
}

}  // namespace

Made ParseNormalizer(const JsonNode& node, int depth) {
  if (depth > kMaxNesting) return node.Invalid("the sequences are nested too deeply");
  TERN_ASSIGN(const std::string type, node.StringField("type"));
  if (type == "NFC") return Make<Form>(NormalForm::kNfc);
  if (type == "NFD") return Make<Form>(NormalForm::kNfd);
  if (type == "NFKC") return Make<Form>(NormalForm::kNfkc);
  if (type == "NFKD") return Make<Form>(NormalForm::kNfkd);
  if (type == "Lowercase") return Make<Lowercase>();
  if (type == "StripAccents") return Make<StripAccents>();
  if (type == "Nmt") return Make<Nmt>();
  if (type == "ByteLevel") return Make<ByteLevelText>();
  if (type == "Sequence") return ParseSequence(node, depth);
  if (type == "BertNormalizer" || type == "Bert") return ParseBert(node);
  if (type == "Strip") return ParseStrip(node);
  if (type == "Replace") return ParseReplace(node);
  if (type == "Precompiled") return ParsePrecompiled(node);
  if (type == "Prepend") {
    TERN_ASSIGN(std::string text, node.StringField("prepend"));
    return Make<Prepend>(std::move(text));
  }
  return Unsupported(node.path(), ": the normalizer '", type, "' is not supported");
}

}  // namespace tern::data
