#include "data/tokenizer/aligned_text.h"

#include <algorithm>

namespace tern::data {

ByteSpan AlignedText::SpanAt(size_t i) const {
  if (!identity()) return spans_[i];
  size_t begin = i;
  while (IsContinuation(text_[begin])) --begin;
  const auto first = static_cast<uint32_t>(base_ + begin);
  return {first, first + static_cast<uint32_t>(CodePointBytes(text_[begin]))};
}

void AlignedText::Materialise() {
  if (!identity()) return;
  std::vector<ByteSpan> spans(text_.size());
  for (size_t i = 0; i < text_.size(); ++i)
    spans[i] = i > 0 && IsContinuation(text_[i]) ? spans[i - 1] : SpanAt(i);
  spans_ = std::move(spans);
}

void AlignedText::Transform(const std::vector<Change>& changes) {
  if (text_.empty()) return;
  std::string out;
  std::vector<ByteSpan> spans;
  out.reserve(changes.size());
  spans.reserve(changes.size());
  size_t old = 0;
  const auto skip = [&] { old += old < text_.size() ? CodePointBytes(text_[old]) : 0; };
  for (const Change& change : changes) {
    // An inserted code point comes from the code point before it.
    const size_t source = change.change > 0 ? old - 1 : std::min(old, text_.size() - 1);
    const ByteSpan span = change.change > 0 && old == 0 ? ByteSpan{base_, base_} : SpanAt(source);
    AppendCodePoint(change.code_point, out);
    spans.resize(out.size(), span);
    for (int k = change.change; k <= 0; ++k) skip();
  }
  text_ = std::move(out);
  spans_ = std::move(spans);
}

void AlignedText::Keep(size_t begin, size_t end) {
  if (begin == 0 && end == text_.size()) return;
  if (identity() && begin == 0) {
    text_.resize(end);
    return;
  }
  Materialise();
  text_ = text_.substr(begin, end - begin);
  spans_ = std::vector<ByteSpan>(spans_.begin() + static_cast<ptrdiff_t>(begin),
                                 spans_.begin() + static_cast<ptrdiff_t>(end));
}

void AlignedText::Prepend(std::string_view prefix) {
  if (text_.empty() || prefix.empty()) return;
  Materialise();
  spans_.insert(spans_.begin(), prefix.size(), ByteSpan(spans_[0]));
  text_.insert(0, prefix);
}

Status AlignedText::Replace(const std::vector<ByteSpan>& matches, std::string_view content) {
  if (matches.empty()) return {};
  size_t size = text_.size() + matches.size() * content.size();
  for (const ByteSpan& match : matches) size -= match.end - match.begin;
  if (size > kMaxTextBytes)
    return ResourceExhausted("the normalizer Replace makes a text of ", size, " bytes, at most ",
                             kMaxTextBytes, " are allowed");
  std::string out;
  std::vector<ByteSpan> spans;
  out.reserve(size);
  spans.reserve(size);
  size_t last = 0;
  const auto copy = [&](size_t end) {
    for (size_t i = last; i < end; ++i) spans.push_back(SpanAt(i));
    out.append(text_, last, end - last);
  };
  for (const ByteSpan& match : matches) {
    copy(match.begin);
    out += content;
    spans.resize(out.size(), match.end == 0 ? ByteSpan{base_, base_} : SpanAt(match.end - 1));
    last = match.end;
  }
  copy(text_.size());
  text_ = std::move(out);
  spans_ = std::move(spans);
  return {};
}

void AlignedText::LowerAscii() {
  for (char& c : text_)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
}

}  // namespace tern::data
