// A text that is divided into pieces: words and added tokens.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/aligned_text.h"

namespace tern::data {

struct Piece {
  uint32_t begin, end;              // bytes of Pieces::text
  std::optional<uint32_t> added{};  // the id of an added token, which is not divided further
};

// What happens to the matches that divide a text.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// A part of a text: a match or what lies between matches.
struct Segment {
  uint32_t begin, end;
  bool match;
};

class Pieces {
 public:
  // Joins normalised parts of a text. Their bases are in order.
  struct Part {
    AlignedText text;
    std::vector<Piece> pieces;  // positions in `text`
  };
  Pieces(std::vector<Part> parts, size_t original_bytes);

  const std::string& text() const { return text_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::string_view View(const Piece& p) const {
    return std::string_view(text_).substr(p.begin, p.end - p.begin);
  }
  // The bytes of the original text that byte i comes from.
  ByteSpan SpanAt(size_t i) const;

  // Divides each piece that is not an added token. f(text, put) calls put(begin, end) for each new piece,
  // with positions in `text`. Empty pieces are left out.
  template <class F> void Divide(F&& f);
  // Divides each piece that is not an added token into segments, which f(text, segments) appends. `behavior`
  // says what happens to the matches. f returns a Status.
  template <class F> Status DivideBySegments(SplitBehavior behavior, F&& f);
  // Replaces the text of each piece that is not an added token. f(text, span_of_start, put) calls
  // put(new_text, source) for each part of the new text, in order. `source` is the byte of the piece that the
  // part comes from.
  template <class F> void Replace(F&& f);

 private:
  std::string text_;
  std::vector<ByteSpan> spans_;  // one per byte of text_, unless identity_
  bool identity_ = true;         // byte i comes from byte i, and code points have the same boundaries
  std::vector<Piece> pieces_;
};

// Merges or removes matches. `segments` covers a text in order.
void ApplyBehavior(SplitBehavior behavior, std::vector<Segment>& segments);

template <class F> void Pieces::Divide(F&& f) {
  std::vector<Piece> out;
  out.reserve(pieces_.size() + text_.size() / 4);
  for (const Piece& p : pieces_) {
    if (p.added) {
      out.push_back(p);
      continue;
    }
    f(View(p), [&](size_t begin, size_t end) {
      if (begin < end)
        out.push_back({p.begin + static_cast<uint32_t>(begin), p.begin + static_cast<uint32_t>(end)});
    });
  }
  pieces_ = std::move(out);
}

template <class F> Status Pieces::DivideBySegments(SplitBehavior behavior, F&& f) {
  Status status;
  std::vector<Segment> segments;
  Divide([&](std::string_view text, auto&& put) {
    if (!status.ok()) return;
    segments.clear();
    status = f(text, segments);
    ApplyBehavior(behavior, segments);
    for (const Segment& s : segments) put(s.begin, s.end);
  });
  return status;
}

template <class F> void Pieces::Replace(F&& f) {
  std::string text;
  text.reserve(text_.size() + text_.size() / 2);
  std::vector<ByteSpan> spans;
  spans.reserve(text_.size() + text_.size() / 2);
  for (Piece& p : pieces_) {
    const size_t begin = text.size(), old_begin = p.begin;
    const auto put = [&](std::string_view part, size_t source) {
      text += part;
      spans.resize(text.size(), SpanAt(old_begin + source));
    };
    if (p.added)
      for (size_t i = 0; i < p.end - p.begin; ++i) put(std::string_view(text_).substr(p.begin + i, 1), i);
    else
      f(View(p), SpanAt(p.begin), put);
    p = {static_cast<uint32_t>(begin), static_cast<uint32_t>(text.size()), p.added};
  }
  text_ = std::move(text);
  spans_ = std::move(spans);
  identity_ = false;
}

}  // namespace tern::data
