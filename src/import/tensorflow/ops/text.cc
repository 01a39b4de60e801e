// Converts operators on strings.
#include "import/tensorflow/converter.h"

namespace tern::tensorflow {
namespace {

Status Join(TfNode& n) {
  const std::string separator = n.Text("separator");
  if (n.InputCount() == 0) return n.Bad("there are no texts");
  Value* y = n.In(0);
  for (int i = 1; i < n.InputCount(); ++i) {
    if (!separator.empty()) y = n.Op("StringConcat", {y, n.b.Const(Tensor::Strings({}, {separator}))});
    y = n.Op("StringConcat", {y, n.In(i)});
  }
  n.Out(0, y);
  return {};
}

// StringNormalizer accepts only vectors, so x is flattened.
Status Case(TfNode& n, const char* change) {
  Value* x = n.In(0);
  Value* y = n.Op("StringNormalizer", {n.Vector(x)}, {{"change", change}, {"case_sensitive", true}});
  n.Out(0, n.Op("Reshape", {y, n.ShapeOf(x)}, {{"allow_zero", true}}));
  return {};
}

Status FullMatch(TfNode& n, const std::string& pattern) {
  n.Out(0, n.Op("RegexFullMatch", {n.In(0)}, {{"pattern", pattern}}));
  return {};
}

Status RegexFullMatch(TfNode& n) {
  const Tensor* pattern = n.Constant(1);
  if (!pattern || pattern->dtype() != DType::kString || pattern->size() != 1)
    return n.NotYet("the pattern is not a constant");
  return FullMatch(n, ToStrings(*pattern)[0]);
}

Status ToNumber(TfNode& n) {
  TERN_ASSIGN(const DType to, n.DTypeAttr("out_type"));
  n.Out(0, n.Cast(n.In(0), to));
  return {};
}

// Supports integers only, because the texts of other numbers depend on a format of printf.
Status AsString(TfNode& n) {
  if (!IsInt(n.TypeOf(0)) || n.Int("width") != -1 || !n.Text("fill").empty())
    return n.NotYet("texts of ", DTypeName(n.TypeOf(0)), " in a given format");
  n.Out(0, n.Cast(n.In(0), DType::kString));
  return {};
}

}  // namespace

TERN_CONVERTERS(text) {
  table.Add("StringJoin", Join);
  table.Add("StringLower", [](TfNode& n) { return Case(n, "lower"); });
  table.Add("StringUpper", [](TfNode& n) { return Case(n, "upper"); });
  table.Add("StaticRegexFullMatch", [](TfNode& n) { return FullMatch(n, n.Text("pattern")); });
  table.Add("RegexFullMatch", RegexFullMatch);
  table.Add("StringToNumber", ToNumber);
  table.Add("AsString", AsString);
}

}  // namespace tern::tensorflow
