// RegexFullMatch: tells whether texts match a regular expression entirely.
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/text/regex.h"

namespace tern {
namespace {

struct RegexFullMatch {
  std::string pattern;
  template <class V> void Visit(V& v) { v("pattern", pattern, "in RE2's syntax"); }
};

Status Infer(const RegexFullMatch& op, InferContext& c) {
  TERN_ASSIGN(const Regex regex, Regex::Parse(op.pattern));
  c.Out("y", DType::kBool, c.ShapeOf("x"));
  return {};
}

Status Reference(const RegexFullMatch& op, EvalContext& c) {
  TERN_ASSIGN(const Regex regex, Regex::Parse(op.pattern));
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  for (int64_t i = 0; i < x.size(); ++i) y.data<bool>()[i] = regex.FullMatch(x.data<std::string>()[i]);
  return {};
}

}  // namespace

TERN_OP(RegexFullMatch) {
  return OpDef::Of<RegexFullMatch>("whether each text of x matches the pattern entirely")
      .In("x", kStrings)
      .Out("y", kBools)
      .Traits(kPure | kHostOnly)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
