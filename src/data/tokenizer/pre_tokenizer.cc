#include "data/tokenizer/pre_tokenizer.h"

#include "data/tokenizer/pattern.h"
#include "data/tokenizer/unicode.h"

namespace tern::data {
namespace {

uint32_t Position(size_t i) { return static_cast<uint32_t>(i); }

// Removes white space. Each punctuation character becomes a word.
class Bert : public PreTokenizer {
  Status Apply(Pieces& pieces) const override {
    const CodePointTable& classes = CharClasses();
    pieces.Divide([&](std::string_view text, auto&& put) {
      size_t begin = 0;
      for (size_t i = 0; i < text.size();) {
        const size_t at = i;
        const uint8_t found = classes[NextCodePoint(text, i)];
        if (!(found & (kSpace | kPunctuation))) continue;
        put(begin, at);
        if (!(found & kSpace)) put(at, i);
        begin = i;
      }
      put(begin, text.size());
    });
    return {};
  }
};

// Runs of word characters, and runs of other characters without white space.
class Whitespace : public PreTokenizer {
  Status Apply(Pieces& pieces) const override {
    const CodePointTable& classes = CharClasses();
    pieces.Divide([&](std::string_view text, auto&& put) {
      size_t begin = 0;
      uint8_t kind = kSpace;
      for (size_t i = 0; i < text.size();) {
        const size_t at = i;
        const auto next = static_cast<uint8_t>(classes[NextCodePoint(text, i)] & (kSpace | kWord));
        if (next == kind) continue;
        if (kind != kSpace) put(begin, at);
        begin = at;
        kind = next;
      }
      if (kind != kSpace) put(begin, text.size());
    });
    return {};
  }
};

// Divides at single characters.
template <class Test> class CharacterSplit : public PreTokenizer {
 public:
  CharacterSplit(Test test, SplitBehavior behavior) : test_(test), behavior_(behavior) {}
  Status Apply(Pieces& pieces) const override {
    return pieces.DivideBySegments(behavior_, [&](std::string_view text, std::vector<Segment>& segments) {
      size_t begin = 0;
      for (size_t i = 0; i < text.size();) {
        const size_t at = i;
        if (!test_(NextCodePoint(text, i))) continue;
        if (begin < at) segments.push_back({Position(begin), Position(at), false});
        segments.push_back({Position(at), Position(i), true});
        begin = i;
      }
      if (begin < text.size()) segments.push_back({Position(begin), Position(text.size()), false});
      return Status();
    });
  }

 private:
  Test test_;
  SplitBehavior behavior_;
};

class Split : public PreTokenizer {
 public:
  Split(std::unique_ptr<Pattern> pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  Status Apply(Pieces& pieces) const override {
    std::vector<ByteSpan> matches;
    return pieces.DivideBySegments(behavior_, [&](std::string_view text, std::vector<Segment>& segments) {
      TERN_TRY(pattern_->FindAll(text, matches));
      uint32_t begin = 0;
      for (const ByteSpan& m : matches) {
        if (begin != m.begin) segments.push_back({begin, m.begin, invert_});
        segments.push_back({m.begin, m.end, !invert_});
        begin = m.end;
      }
      if (begin != text.size()) segments.push_back({begin, Position(text.size()), invert_});
      return Status();
    });
  }

 private:
  std::unique_ptr<Pattern> pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

// Divides where the script changes. Japanese syllables count as Han. Drops the text before the first
// character with a script, as in the `tokenizers` package.
class UnicodeScripts : public PreTokenizer {
  Status Apply(Pieces& pieces) const override {
    const uint8_t han = ScriptOf(0x4e00), hiragana = ScriptOf(0x3042), katakana = ScriptOf(0x30a2);
    pieces.Divide([&](std::string_view text, auto&& put) {
      size_t begin = text.size();
      uint8_t last = 0;
      for (size_t i = 0; i < text.size();) {
        const size_t at = i;
        uint8_t script = ScriptOf(NextCodePoint(text, i));
        if (script == hiragana || script == katakana) script = han;
        if (script == 0) continue;
        if (script != last) {
          put(begin, at);
          begin = at;
        }
        last = script;
      }
      put(begin, text.size());
    });
    return {};
  }
};

class FixedLength : public PreTokenizer {
 public:
  explicit FixedLength(uint64_t length) : length_(length) {}
  Status Apply(Pieces& pieces) const override {
    pieces.Divide([&](std::string_view text, auto&& put) {
      for (size_t i = 0; i < text.size();) {
        const size_t begin = i;
        for (uint64_t n = 0; n < length_ && i < text.size(); ++n) i += CodePointBytes(text[i]);
        put(begin, i);
      }
    });
    return {};
  }

 private:
  uint64_t length_;
};

class Sequence : public PreTokenizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<PreTokenizer>> steps) : steps_(std::move(steps)) {}
  Status Apply(Pieces& pieces) const override {
    for (const auto& step : steps_) TERN_TRY(step->Apply(pieces));
    return {};
  }
  bool KeepBytes() override { return !steps_.empty() && steps_.back()->KeepBytes(); }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

using Made = Result<std::unique_ptr<PreTokenizer>>;
template <class T, class... A> Made Make(A&&... a) {
  return std::unique_ptr<PreTokenizer>(std::make_unique<T>(std::forward<A>(a)...));
}
template <class Test> Made MakeCharacterSplit(Test test, SplitBehavior behavior) {
  return Make<CharacterSplit<Test>>(test, behavior);
}

Result<SplitBehavior> ParseBehavior(const JsonNode& node) {
  TERN_ASSIGN(const std::string name, node.String());
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return node.Invalid(StrCat("unknown behavior '", name, "'"));
}

Made ParsePunctuation(const JsonNode& node) {
  SplitBehavior behavior = SplitBehavior::kIsolated;
  if (const auto field = node.Find("behavior")) {
    TERN_ASSIGN(behavior, ParseBehavior(*field));
  }
  return MakeCharacterSplit([](char32_t c) { return (CharClasses()[c] & kPunctuation) != 0; }, behavior);
}

Made ParseDigits(const JsonNode& node) {
  TERN_ASSIGN(const bool individual, node.BoolField("individual_digits"));
  return MakeCharacterSplit([](char32_t c) { return IsNumeric(c, CharClasses()[c]); },
                            individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

Made ParseDelimiter(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode field, node.Field("delimiter"));
  TERN_ASSIGN(const char32_t delimiter, field.Character());
  return MakeCharacterSplit([delimiter](char32_t c) { return c == delimiter; }, SplitBehavior::kRemoved);
}

Made ParseSplit(const JsonNode& node) {
  TERN_ASSIGN(const JsonNode pattern_field, node.Field("pattern"));
  TERN_ASSIGN(auto pattern, ParsePattern(pattern_field));
  TERN_ASSIGN(const JsonNode behavior_field, node.Field("behavior"));
  TERN_ASSIGN(const SplitBehavior behavior, ParseBehavior(behavior_field));
  TERN_ASSIGN(const bool invert, node.BoolField("invert"));
  return Make<Split>(std::move(pattern), behavior, invert);
}

Made ParseFixedLength(const JsonNode& node) {
  uint64_t length = 5;
  if (const auto field = node.Find("length")) {
    TERN_ASSIGN(length, field->Unsigned(UINT32_MAX));
    if (length == 0) return field->Invalid("must be at least 1");
  }
  return Make<FixedLength>(length);
}

Made ParseSequence(const JsonNode& node, int depth) {
  TERN_ASSIGN(const JsonNode field, node.Field("pretokenizers"));
  TERN_ASSIGN(const auto items, field.Items());
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  for (const JsonNode& item : items) {
    TERN_ASSIGN(auto step, ParsePreTokenizer(item, depth + 1));
    steps.push_back(std::move(step));
  }
  return Make<Sequence>(std::move(steps));
}

}  // namespace

Made ParsePreTokenizer(const JsonNode& node, int depth) {
  if (depth > kMaxNesting) return node.Invalid("the sequences are nested too deeply");
  TERN_ASSIGN(const std::string type, node.StringField("type"));
  if (type == "BertPreTokenizer") return Make<Bert>();
  if (type == "Whitespace") return Make<Whitespace>();
  if (type == "WhitespaceSplit")
    return MakeCharacterSplit([](char32_t c) { return (CharClasses()[c] & kSpace) != 0; },
                              SplitBehavior::kRemoved);
  if (type == "ByteLevel") return ParseByteLevelPreTokenizer(node);
  if (type == "Metaspace") return ParseMetaspacePreTokenizer(node);
  if (type == "Punctuation") return ParsePunctuation(node);
  if (type == "Digits") return ParseDigits(node);
  if (type == "CharDelimiterSplit") return ParseDelimiter(node);
  if (type == "Split") return ParseSplit(node);
  if (type == "UnicodeScripts") return Make<UnicodeScripts>();
  if (type == "FixedLength") return ParseFixedLength(node);
  if (type == "Sequence") return ParseSequence(node, depth);
  return Unsupported(node.path(), ": the pre-tokenizer '", type, "' is not supported");
}

}  // namespace tern::data
