// StringNormalizer: removes stop words and changes the case.
#include <set>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/text/utf8.h"

namespace tern {
namespace {

enum class Change { kNone, kLower, kUpper };

struct StringNormalizer {
  Change change = Change::kNone;
  bool case_sensitive = false;
  std::vector<std::string> stop_words;
  template <class V> void Visit(V& v) {
    v.Enum("change", change, {"none", "lower", "upper"}, "the case of the result");
    v("case_sensitive", case_sensitive, "compare with stop words case-sensitively");
    v("stop_words", stop_words, "texts to remove");
  }
};

Status Infer(const StringNormalizer& op, InferContext& c) {
  Shape y = c.ShapeOf("x");
  const bool row = y.rank() == 2 && (!y[0].known() || y[0].Is(1));
  if (y.ranked && y.rank() != 1 && !row)
    return InvalidModel("x must be [words] or [1, words], got ", c.In("x").ToString());
  if (y.ranked && (!op.stop_words.empty() || y.dims.back().Is(0))) y.dims.back() = Dim::Unknown();
  c.Out("y", DType::kString, std::move(y));
  return {};
}

std::string Changed(Change change, const std::string& text) {
  if (change == Change::kLower) return LowerText(text);
  return change == Change::kUpper ? UpperText(text) : text;
}

Status Reference(const StringNormalizer& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  if (x.rank() != 1 && !(x.rank() == 2 && x.dim(0) == 1))
    return InvalidArgument("x must be [words] or [1, words], got ", x.Describe());
  if (x.size() == 0) return InvalidArgument("x is ", x.Describe(), ", but must contain a text");
  const auto folded = [&](const std::string& s) { return op.case_sensitive ? s : LowerText(s); };
  std::set<std::string> stop;
  for (const std::string& s : op.stop_words) stop.insert(folded(s));
  std::vector<std::string> kept;
  for (const std::string& s : ToStrings(x))
    if (stop.empty() || !stop.count(folded(s))) kept.push_back(Changed(op.change, s));
  if (kept.empty()) kept.emplace_back();
  const auto n = static_cast<int64_t>(kept.size());
  Tensor& y = c.Out("y", x.rank() == 1 ? Dims{n} : Dims{1, n});
  FromStrings(kept, y);
  return {};
}

}  // namespace

TERN_OP(StringNormalizer) {
  return OpDef::Of<StringNormalizer>(
             "the texts of x without stop words, in the selected case; a single empty text if no text remains")
      .In("x", kStrings)
      .Out("y", kStrings)
      .Traits(kPure | kHostOnly)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
