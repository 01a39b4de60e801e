#include "ops/ml/tree_ensemble_classifier.h"

#include "ops/ml/tree_ensemble.h"

namespace tern {
namespace {

Status Check(const TreeEnsembleClassifier& op) {
  TERN_TRY(CheckLabels(op.labels));
  const auto classes = static_cast<size_t>(op.labels.count());
  if (classes == 1 && op.labels.text())
    return InvalidModel("a single string label: the other class has no label");
  if (op.base_wide.defined() && !IsFloat(op.base_wide.dtype()))
    return InvalidModel("base_wide is ", op.base_wide.Describe(), ", but must be float");
  const size_t base = BaseOf(op).size();
  if (base && base != classes && !(classes == 2 && base == 1))
    return InvalidModel(base, " base values for ", classes, " classes");
  return CheckForest(op, op.labels.count());
}

Status Infer(const TreeEnsembleClassifier& op, InferContext& c) {
  TERN_TRY(Check(op));
  TERN_ASSIGN(Dim rows, RowCount(c, ForestWalker(op).columns()));
  c.Out("label", op.labels.type(), Shape({rows}));
  c.Out("scores", DType::kF32, Shape({rows, op.labels.count()}));
  return {};
}

Status Reference(const TreeEnsembleClassifier& op, EvalContext& c) {
  const ForestWalker walker(op);
  const Decider decider(op);
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  if (x.width < walker.columns())
    return InvalidArgument("feature ", walker.columns() - 1, " is tested, but x has ", x.width, " features");
  const auto weights = op.vote_weight.defined() ? ToDoubles(op.vote_weight) : std::vector<double>();
  const bool round_f32 = !op.vote_weight.defined() || op.vote_weight.dtype() == DType::kF32;
  const auto classes = static_cast<size_t>(op.labels.count());
  Tensor& label = c.Out("label", {x.count});
  std::vector<double> all, scores(std::max<size_t>(classes, 2));
  for (int64_t r = 0; r < x.count; ++r) {
    std::vector<VoteSum> votes(classes);
    for (int64_t root : op.roots) {
      const auto leaf = static_cast<size_t>(walker.LeafOf(root, x.Row(r)));
      for (auto v = static_cast<size_t>(op.leaf_start[leaf]);
           v < static_cast<size_t>(op.leaf_start[leaf + 1]); ++v)
        AddVote(Aggregate::kSum, votes[static_cast<size_t>(op.vote_target[v])], weights[v], round_f32);
    }
    const Decision v = decider.Decide(votes.data(), scores.data());
    if (op.labels.text())
      label.data<std::string>()[r] = op.labels.texts[static_cast<size_t>(v.label)];
    else
      label.data<int64_t>()[r] = v.plain ? v.label : op.labels.ints[static_cast<size_t>(v.label)];
    all.insert(all.end(), scores.begin(), scores.begin() + op.labels.count());
  }
  c.Out("scores", {x.count, op.labels.count()}, all);
  return {};
}

}  // namespace

TERN_OP(TreeEnsembleClassifier) {
  return OpDef::Of<TreeEnsembleClassifier>(
             "the class with the most votes of the leaves that each row of x reaches, and the scores")
      .In("x", kFloats | kIndices)
      .Out("label", SetOf(DType::kI64) | kStrings)
      .OptOut("scores", SetOf(DType::kF32))
      .Flops(No{"depends on the model in the attributes"})
      .Batch(No{"rows are small compared with the model in the attributes"})
      .Axes(No{"the axes must be rows and features, in this order"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
