// A text that a normalizer changes, with the bytes of the original text that each byte comes from.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/tokenizer/code_points.h"
#include "data/tokenizer/normal_forms.h"

namespace tern::data {

// Bytes [begin, end) of the original text.
struct ByteSpan {
  uint32_t begin = 0, end = 0;
  bool operator==(const ByteSpan&) const = default;
};

// Longer texts are refused.
constexpr size_t kMaxTextBytes = size_t{1} << 26;

class AlignedText {
 public:
  // `base` is the position of `text` in the original text.
  AlignedText(std::string_view text, uint32_t base)
      : text_(text), base_(base), limit_(std::min(kMaxTextBytes, (size_t{1} << 16) + 64 * text.size())) {}

  const std::string& text() const { return text_; }
  // True if byte i comes from byte base() + i of the original text, and code points have the same boundaries.
  bool identity() const { return spans_.empty(); }
  uint32_t base() const { return base_; }
  // A normalizer that makes the text longer than this fails. The longest decomposition is 11 times its
  // character.
  size_t limit() const { return limit_; }
  ByteSpan SpanAt(size_t i) const;

  // Replaces each code point by the text that f(code_point, out) appends to `out`. The source of this text is
  // the bytes of the code point.
  template <class F> void Rewrite(F&& f);
  // Replaces the text. The changes consume the old text from its start.
  void Transform(const std::vector<Change>& changes);
  // Keeps bytes [begin, end) of the text and removes the others.
  void Keep(size_t begin, size_t end);
  // Inserts `prefix`, which comes from the first code point, unless the text is empty.
  void Prepend(std::string_view prefix);
  // Replaces [matches[k].begin, matches[k].end) by `content`, which comes from the last code point of the
  // match. The matches are in order and do not overlap. Fails if the text becomes too long.
  Status Replace(const std::vector<ByteSpan>& matches, std::string_view content);
  // Converts ASCII letters to lower case. The text must be ASCII.
  void LowerAscii();

 private:
  void Materialise();

  std::string text_;
  std::vector<ByteSpan> spans_;  // one per byte of text_; empty: identity
  uint32_t base_;
  size_t limit_;
};

template <class F> void AlignedText::Rewrite(F&& f) {
  std::string out;
  out.reserve(text_.size() + text_.size() / 8);
  std::vector<ByteSpan> spans;
  bool same = identity();  // holds while the results have the boundaries of the old text
  for (size_t i = 0; i < text_.size();) {
    const size_t begin = i, old_size = out.size();
    f(NextCodePoint(text_, i), out);
    const size_t n = out.size() - old_size;
    if (same) {
      if (n == i - begin && CodePointBytes(out[old_size]) == n) continue;
      same = false;
      spans.reserve(out.size() + (text_.size() - begin));
      for (size_t k = 0; k < old_size; ++k) spans.push_back(SpanAt(k));
    }
    spans.insert(spans.end(), n, SpanAt(begin));
  }
  text_ = std::move(out);
  spans_ = std::move(spans);
}

}  // namespace tern::data
