// Tokenizer: splits texts into tokens. A pattern describes the tokens or the separators between them.
#include <algorithm>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/text/regex.h"
#include "ops/text/utf8.h"

namespace tern {
namespace {

struct Tokenizer {
  std::string token;
  std::vector<std::string> separators;
  std::string pad;
  bool mark = false;
  int64_t min_length = 1;
  template <class V> void Visit(V& v) {
    v("token", token,
      "pattern of a token, in RE2's syntax; used if there are no separators; if it is '.', every character is a token");
    v("separators", separators,
      "patterns of separators, in RE2's syntax, applied one after the other; if the only pattern is empty, every "
      "character is a token");
    v("pad", pad, "the token that pads rows with fewer tokens than the longest row");
    v("mark", mark, "add U+0002 before the tokens of a text and U+0003 after them");
    v("min_length", min_length, "tokens of fewer characters are dropped");
  }
  // As in onnxruntime, the token "." matches line ends too.
  bool characters() const {
    return separators.empty() ? token == "." : separators.size() == 1 && separators[0].empty();
  }
};

using Codes = std::vector<uint32_t>;

// The compiled patterns of the attributes.
struct Rules {
  std::vector<Regex> separators;
  std::optional<Regex> token;
};

Result<Rules> RulesOf(const Tokenizer& op) {
  Rules rules;
  if (op.min_length < 1) return InvalidModel("min_length is ", op.min_length, ", but must be 1 or more");
  if (op.characters()) {
    if (op.min_length > 1)
      return InvalidModel("min_length is ", op.min_length, " for tokens of one character");
    return rules;
  }
  if (op.separators.empty() && op.token.empty())
    return InvalidModel("neither separators nor a token are given");
  for (const std::string& separator : op.separators) {
    if (separator.empty()) return InvalidModel("one of ", op.separators.size(), " separators is empty");
    TERN_ASSIGN(Regex regex, Regex::Parse(separator));
    rules.separators.push_back(std::move(regex));
  }
  if (op.separators.empty()) {
    TERN_ASSIGN(rules.token, Regex::Parse(op.token));
  }
  return rules;
}

Codes Part(const Codes& text, size_t begin, size_t end) {
  return {text.begin() + static_cast<int64_t>(begin), text.begin() + static_cast<int64_t>(end)};
}

// Returns the position at which the search continues after a match. It is at least one character after the
// start of the match, even if the match is empty.
size_t EndOf(const Regex::Span& match) { return std::max(match.end, match.begin + 1); }

// Appends the non-empty parts of the text between separators to `out`.
void SplitAt(const Regex& separator, const Codes& text, std::vector<Codes>& out) {
  size_t at = 0;
  while (at < text.size()) {
    const auto found = separator.Find(text, at);
    const size_t end = found ? std::min(found->begin, text.size()) : text.size();
    if (end > at) out.push_back(Part(text, at, end));
    at = found ? EndOf(*found) : text.size();
  }
}

std::vector<Codes> TokensOf(const Tokenizer& op, const Rules& rules, const Codes& text) {
  std::vector<Codes> tokens;
  if (op.characters()) {
    for (uint32_t code : text) tokens.push_back({code});
    return tokens;
  }
  if (rules.token) {
    for (size_t at = 0; at < text.size();) {
      const auto found = rules.token->Find(text, at);
      if (!found) break;
      if (found->end > found->begin) tokens.push_back(Part(text, found->begin, found->end));
      at = EndOf(*found);
    }
  } else {
    tokens.push_back(text);
    for (const Regex& separator : rules.separators) {
      std::vector<Codes> finer;
      for (const Codes& part : tokens) SplitAt(separator, part, finer);
      tokens = std::move(finer);
    }
  }
  const auto is_short = [&](const Codes& t) { return static_cast<int64_t>(t.size()) < op.min_length; };
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(), is_short), tokens.end());
  return tokens;
}

Status CheckRank(int rank, const std::string& what) {
  if (rank == 1 || rank == 2) return {};
  return InvalidModel("x must be [texts] or [rows, texts], got ", what);
}

Status Infer(const Tokenizer& op, InferContext& c) {
  TERN_ASSIGN(const Rules rules, RulesOf(op));
  Shape y = c.ShapeOf("x");
  if (y.ranked) {
    TERN_TRY(CheckRank(y.rank(), c.In("x").ToString()));
    const bool empty = std::any_of(y.dims.begin(), y.dims.end(), [](const Dim& d) { return d.Is(0); });
    if (empty)
      y.dims.back() = Dim(0);
    else
      y.dims.push_back(Dim::Unknown());
  }
  c.Out("y", DType::kString, std::move(y));
  return {};
}

std::string Text(const Codes& codes) {
  std::string out;
  for (uint32_t code : codes) AppendUtf8(code, out);
  return out;
}

Status Reference(const Tokenizer& op, EvalContext& c) {
  constexpr size_t kMaxTokens = size_t{1} << 28;
  TERN_ASSIGN(const Rules rules, RulesOf(op));
  const Tensor& x = c.In("x");
  TERN_TRY(CheckRank(x.rank(), x.Describe()));
  std::vector<std::vector<Codes>> all;
  size_t longest = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    all.push_back(TokensOf(op, rules, CodePoints(x.data<std::string>()[i])));
    longest = std::max(longest, all.back().size());
  }
  if (longest > 0 && op.mark) longest += 2;
  if (longest > 0 && all.size() > kMaxTokens / longest)
    return ResourceExhausted(all.size(), " texts of up to ", longest, " tokens are more than ", kMaxTokens);
  Dims dims = x.dims();
  if (x.size() == 0)
    dims.back() = 0;  // onnxruntime adds no axis either
  else
    dims.push_back(static_cast<int64_t>(longest));
  Tensor& y = c.Out("y", dims);
  for (size_t i = 0; i < all.size() && longest > 0; ++i) {
    std::string* row = y.data<std::string>() + i * longest;
    std::string* const end = row + longest;
    if (op.mark) *row++ = "\x02";
    for (const Codes& token : all[i]) *row++ = Text(token);
    if (op.mark) *row++ = "\x03";
    std::fill(row, end, op.pad);
  }
  return {};
}

}  // namespace

TERN_OP(Tokenizer) {
  return OpDef::Of<Tokenizer>(
             "the tokens of each text along a new last axis; without texts, x with a last axis of length 0")
      .In("x", kStrings)
      .Out("y", kStrings)
      .Traits(kPure | kHostOnly)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
