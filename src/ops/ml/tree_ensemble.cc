#include "ops/ml/tree_ensemble.h"

namespace tern {
namespace {

constexpr int64_t kMaxTargets = int64_t{1} << 24;

Status Check(const TreeEnsemble& op) {
  if (op.targets < 1 || op.targets > kMaxTargets)
    return InvalidModel("targets is ", op.targets, ", but must be from 1 to ", kMaxTargets);
  if (op.base_wide.defined() && !IsFloat(op.base_wide.dtype()))
    return InvalidModel("base_wide is ", op.base_wide.Describe(), ", but must be float");
  const size_t base = BaseOf(op).size();
  if (base && base != static_cast<size_t>(op.targets))
    return InvalidModel("base has ", base, " values, but there are ", op.targets, " targets");
  return CheckForest(op, op.targets);
}

Status Infer(const TreeEnsemble& op, InferContext& c) {
  TERN_TRY(Check(op));
  TERN_ASSIGN(Dim rows, RowCount(c, ForestWalker(op).columns()));
  c.Out("y", op.to, Shape({rows, op.targets}));
  return {};
}

Status Reference(const TreeEnsemble& op, EvalContext& c) {
  const ForestWalker walker(op);
  TERN_ASSIGN(const Rows x, RowsOf(c.In("x")));
  if (x.width < walker.columns())
    return InvalidArgument("feature ", walker.columns() - 1, " is tested, but x has ", x.width, " features");
  const auto weights = op.vote_weight.defined() ? ToDoubles(op.vote_weight) : std::vector<double>();
  const bool round_f32 = !op.vote_weight.defined() || op.vote_weight.dtype() == DType::kF32;
  auto base = BaseOf(op);
  base.resize(static_cast<size_t>(op.targets), 0.0);
  std::vector<double> y;
  for (int64_t r = 0; r < x.count; ++r) {
    std::vector<VoteSum> scores(static_cast<size_t>(op.targets));
    for (int64_t root : op.roots) {
      const auto leaf = static_cast<size_t>(walker.LeafOf(root, x.Row(r)));
      for (auto v = static_cast<size_t>(op.leaf_start[leaf]);
           v < static_cast<size_t>(op.leaf_start[leaf + 1]); ++v)
        AddVote(op.aggregate, scores[static_cast<size_t>(op.vote_target[v])], weights[v], round_f32);
    }
    std::vector<double> row;
    const double divisor = op.aggregate == Aggregate::kAverage ? static_cast<double>(op.roots.size()) : 1;
    for (size_t t = 0; t < scores.size(); ++t) row.push_back(scores[t].sum / divisor + base[t]);
    FinishScores(op.transform, SecondClass::kNone, row);
    y.insert(y.end(), row.begin(), row.end());
  }
  c.Out("y", {x.count, op.targets}, y);
  return {};
}

}  // namespace

TERN_OP(TreeEnsemble) {
  return OpDef::Of<TreeEnsemble>("the votes of the leaves that each row of x reaches, aggregated per target")
      .In("x", kFloats | kIndices)
      .Out("y", kFloats)
      .Flops(No{"depends on the model in the attributes"})
      .Batch(No{"rows are small compared with the model in the attributes"})
      .Axes(No{"the axes must be rows and features, in this order"})
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
