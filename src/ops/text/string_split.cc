// StringSplit: splits texts at a delimiter.
#include <algorithm>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct StringSplit {
  std::string delimiter;
  int64_t max_splits = -1;
  template <class V> void Visit(V& v) {
    v("delimiter", delimiter,
      "if empty, any run of blanks is a delimiter, and blanks at the ends are ignored");
    v("max_splits", max_splits,
      "maximum number of splits, after which the remaining text is one part; negative means no limit");
  }
};

Status Infer(const StringSplit&, InferContext& c) {
  Shape y = c.ShapeOf("x");
  if (y.ranked) y.dims.push_back(Dim::Unknown());
  c.Out("y", DType::kString, std::move(y));
  c.Out("count", DType::kI64, c.ShapeOf("x"));
  return {};
}

using Parts = std::vector<std::string>;

Parts SplitBlanks(const std::string& text, int64_t limit) {
  static const char kBlanks[] = " \t\n\r\f\v";
  Parts parts;
  size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string::npos) {
    const bool is_last = limit >= 0 && static_cast<int64_t>(parts.size()) >= limit;
    const size_t end = is_last ? std::string::npos : text.find_first_of(kBlanks, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : text.find_first_not_of(kBlanks, end);
  }
  return parts;
}

Parts SplitAt(const std::string& text, const std::string& delimiter, int64_t limit) {
  Parts parts;
  if (text.empty()) return parts;
  size_t at = 0;
  while (limit < 0 || static_cast<int64_t>(parts.size()) < limit) {
    const size_t end = text.find(delimiter, at);
    if (end == std::string::npos) break;
    parts.push_back(text.substr(at, end - at));
    at = end + delimiter.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

Status Reference(const StringSplit& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  std::vector<Parts> all;
  size_t longest = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const std::string& text = x.data<std::string>()[i];
    all.push_back(op.delimiter.empty() ? SplitBlanks(text, op.max_splits)
                                       : SplitAt(text, op.delimiter, op.max_splits));
    longest = std::max(longest, all.back().size());
  }
  constexpr size_t kMaxParts = size_t{1} << 28;
  if (!all.empty() && longest > kMaxParts / all.size())
    return ResourceExhausted(all.size(), " texts of up to ", longest, " parts are more than ", kMaxParts,
                             " parts");
  Dims dims = x.dims();
  dims.push_back(static_cast<int64_t>(longest));
  Tensor& y = c.Out("y", dims);
  for (size_t i = 0; i < all.size(); ++i)
    std::copy(all[i].begin(), all[i].end(), y.data<std::string>() + i * longest);
  std::vector<int64_t> counts;
  for (const Parts& p : all) counts.push_back(static_cast<int64_t>(p.size()));
  c.OutLongs("count", x.dims(), counts);
  return {};
}

}  // namespace

TERN_OP(StringSplit) {
  return OpDef::Of<StringSplit>(
             "the parts of each text along a new last axis, padded with empty texts, and their number")
      .In("x", kStrings)
      .Out("y", kStrings)
      .OptOut("count", SetOf(DType::kI64))
      .Traits(kPure | kHostOnly)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
