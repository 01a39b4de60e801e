#include "data/tokenizer/pieces.h"

namespace tern::data {

Pieces::Pieces(std::vector<Part> parts, size_t original_bytes) {
  size_t bytes = 0;
  for (const Part& part : parts) {
    identity_ &= part.text.identity() && part.text.base() == bytes;
    bytes += part.text.text().size();
  }
  identity_ &= bytes == original_bytes;
  text_.reserve(bytes);
  for (const Part& part : parts) {
    const auto shift = static_cast<uint32_t>(text_.size());
    text_ += part.text.text();
    if (!identity_)
      for (size_t i = 0; i < part.text.text().size(); ++i) spans_.push_back(part.text.SpanAt(i));
    for (const Piece& p : part.pieces)
      if (p.begin < p.end) pieces_.push_back({p.begin + shift, p.end + shift, p.added});
  }
}

ByteSpan Pieces::SpanAt(size_t i) const {
  if (!identity_) return spans_[i];
  while (IsContinuation(text_[i])) --i;
  const auto begin = static_cast<uint32_t>(i);
  return {begin, begin + static_cast<uint32_t>(CodePointBytes(text_[i]))};
}

namespace {

// In MergedWithPrevious (`forward`), a match joins the segment before it. In MergedWithNext, it joins the
// segment after it. A match beside another match, or with no segment to join, stays a segment of its own.
void MergePieces(std::vector<Segment>& segments, bool forward) {
  std::vector<Segment> out;
  bool previous_match = false;
  const auto take = [&](const Segment& s) {
    if (s.match && !previous_match && !out.empty())
      (forward ? out.back().end : out.back().begin) = forward ? s.end : s.begin;
    else
      out.push_back(s);
    previous_match = s.match;
  };
  if (forward) {
    for (const Segment& s : segments) take(s);
    segments = std::move(out);
  } else {
    for (auto s = segments.rbegin(); s != segments.rend(); ++s) take(*s);
    segments.assign(out.rbegin(), out.rend());
  }
}

void Join(std::vector<Segment>& segments) {
  std::vector<Segment> out;
  for (const Segment& s : segments) {
    if (!out.empty() && out.back().match == s.match)
      out.back().end = s.end;
    else
      out.push_back(s);
  }
  segments = std::move(out);
}

}  // namespace

void ApplyBehavior(SplitBehavior behavior, std::vector<Segment>& segments) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      std::erase_if(segments, [](const Segment& s) { return s.match; });
      return;
    case SplitBehavior::kIsolated:
      return;
    case SplitBehavior::kContiguous:
      return Join(segments);
    case SplitBehavior::kMergedWithPrevious:
      return MergePieces(segments, true);
    case SplitBehavior::kMergedWithNext:
      return MergePieces(segments, false);
  }
}

}  // namespace tern::data
