#include "server/generate/text_stream.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace tern::server {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// An incomplete character has at most 3 bytes, each at most one token. More tokens that decode to U+FFFD are
// bytes that do not form UTF-8.
constexpr size_t kMaxIncomplete = 4;

// Returns the length of the longest suffix of `text` that is a prefix of `stop`.
size_t Overlap(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
    if (text.substr(text.size() - n) == stop.substr(0, n)) return n;
  return 0;
}

// Returns the text of `all` after `before`. An incomplete character at the end of `before` may be a complete
// one in `all`.
std::string After(const std::string& before, const std::string& all) {
  if (std::string_view(all).starts_with(before)) return all.substr(before.size());
  const auto [at, unused] = std::mismatch(all.begin(), all.end(), before.begin(), before.end());
  return {at, all.end()};
}

}  // namespace

TextStream::TextStream(std::shared_ptr<const data::Tokenizer> tokenizer, std::vector<std::string> stop,
                       const std::vector<int64_t>& prompt)
    : tokenizer_(std::move(tokenizer)), stop_(std::move(stop)) {
  constexpr size_t kContext = 6;
  const size_t count = std::min(prompt.size(), kContext);
  tokens_.assign(prompt.end() - static_cast<std::ptrdiff_t>(count), prompt.end());
  read_ = count;
}

// Returns the text of the tokens after read_, unless its last character may be incomplete.
Result<std::string> TextStream::Fresh(bool last) {
  if (read_ == tokens_.size()) return std::string();
  const auto at = [&](size_t i) { return tokens_.begin() + static_cast<std::ptrdiff_t>(i); };
  TERN_ASSIGN(const std::string before, tokenizer_->Decode({at(context_), at(read_)}));
  TERN_ASSIGN(const std::string all, tokenizer_->Decode({at(context_), tokens_.end()}));
  const bool incomplete = std::string_view(all).ends_with(kReplacement);
  if (incomplete && !last && tokens_.size() - read_ < kMaxIncomplete) return std::string();
  if (all.size() <= before.size() && !last) return std::string();  // a special token, or half of a character
  context_ = read_;
  read_ = tokens_.size();
  return After(before, all);
}

std::string TextStream::Release(std::string fresh, bool last) {
  held_ += fresh;
  size_t first = std::string::npos, keep = 0;
  for (const std::string& stop : stop_) {
    first = std::min(first, held_.find(stop));
    keep = std::max(keep, Overlap(held_, stop));
  }
  if (first != std::string::npos) {
    stopped_ = true;
    return std::exchange(held_, {}).substr(0, first);
  }
  const size_t ready = last ? held_.size() : held_.size() - keep;
  std::string out = held_.substr(0, ready);
  held_.erase(0, ready);
  return out;
}

Result<std::string> TextStream::Add(int64_t token) {
  tokens_.push_back(token);
  TERN_ASSIGN(std::string fresh, Fresh(false));
  return Release(std::move(fresh), false);
}

Result<std::string> TextStream::Finish() {
  if (stopped_) return std::string();
  TERN_ASSIGN(std::string fresh, Fresh(true));
  return Release(std::move(fresh), true);
}

}  // namespace tern::server
