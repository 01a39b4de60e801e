// Makes classifiers with string labels return class indices, because kernels support only integer labels. A
// Gather then looks up the strings.
#include <numeric>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

bool GatherLabels(Rewrite& r) {
  const Node& node = r.root();
  const auto texts = std::get<std::vector<std::string>>(node.attrs.Get("label_texts"));
  if (texts.empty()) return r.Skip("the labels are numbers");
  std::vector<int64_t> numbers(texts.size());
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  const Attrs attrs =
      WithAttrs(node.attrs, {{"label_texts", std::vector<std::string>()}, {"label_ints", numbers}});
  std::vector<Value*> made = r.Ops(*node.op, attrs, {node.input(0)}, static_cast<int>(node.outputs().size()));
  if (made.empty()) return false;
  Value* names = r.Const(Tensor::Strings({static_cast<int64_t>(texts.size())}, texts));
  made[0] = r.Op("Gather", {names, made[0]}, {{"axis", int64_t{0}}});
  return r.Replace(made);
}

}  // namespace

TERN_RULE(ReplaceTextLabels) {
  return Rule{
      .summary = "a classifier with string labels returns class indices, and a Gather looks up the labels",
      .level = Level::kExtended,
      .roots = {"TreeEnsembleClassifier", "LinearClassifier", "SVMClassifier"},
      .apply = GatherLabels,
      .example = R"(graph @g(%x: f32[N,2]) -> (%label, %scores) {
  %label, %scores = LinearClassifier(%x) {label_texts=["a", "b"], coefficients=[1, 2, 3, 4], intercepts=[0, 1]}
})"};
}

}  // namespace tern
