// Recomposes Softmax, LogSoftmax, and the reductions LogSumExp, L2 and L1.
#include "passes/recompose/conditions.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool OneAxis(const Match& m) {
  const auto axes = IntsOf(m.At("axes"));
  if (!axes || axes->size() != 1) return m.Skip("the reduction is not over one axis");
  return IsFloatValue(m.At("x")) || m.Skip("the type is not a float");
}

void SetAxis(Match& m) { m.SetAttr("axis", (*IntsOf(m.At("axes")))[0]); }

}  // namespace

TERN_RULE(RecomposeSoftmax) {
  return Rule{.summary = "exp(x) / sum(exp(x)) is Softmax, also with the maximum subtracted first",
              .level = Level::kExtended,
              .match = {"%m = ReduceMax(%x, #axes) {keep_dims=true}  %e = Exp(%x - %m)"
                        "%s = ReduceSum(%e, #axes) {keep_dims=true}  %y = %e / %s",
                        "%e = Exp(%x)  %s = ReduceSum(%e, #axes) {keep_dims=true}  %y = %e / %s"},
              .emit = R"(%y = Softmax(%x) {kind="softmax", axis=@axis})",
              .when = OneAxis,
              .compute = SetAxis};
}

TERN_RULE(RecomposeLogSoftmax) {
  return Rule{.summary = "x - log(sum(exp(x))) is LogSoftmax, also with the maximum subtracted first",
              .level = Level::kExtended,
              .match = {"%m = ReduceMax(%x, #axes) {keep_dims=true}  %d = %x - %m"
                        "%s = ReduceSum(Exp(%d), #axes) {keep_dims=true}  %y = %d - Log(%s)",
                        "%s = ReduceLogSumExp(%x, #axes) {keep_dims=true}  %y = %x - %s"},
              .emit = R"(%y = Softmax(%x) {kind="log_softmax", axis=@axis})",
              .when = OneAxis,
              .compute = SetAxis};
}

TERN_RULE(FuseLogIntoSoftmax) {
  return Rule{.summary = "log(softmax(x)) is LogSoftmax",
              .level = Level::kExtended,
              .match = {R"(%s = Softmax(%x) {kind="softmax", axis=@axis}  %y = Log(%s))"},
              .emit = R"(%y = Softmax(%x) {kind="log_softmax", axis=@axis})"};
}

TERN_RULE(RecomposeReduceLogSumExp) {
  return Rule{
      .summary = "log(sum(exp(x))) is ReduceLogSumExp",
      .level = Level::kExtended,
      .match = {"%s = ReduceSum(Exp(%x), %axes?) {keep_dims=@keep, noop_if_empty=false}  %y = Log(%s)"},
      .emit = "%y = ReduceLogSumExp(%x, %axes) {keep_dims=@keep}",
      .when = HasFloatX};
}

TERN_RULE(RecomposeReduceL2) {
  return Rule{
      .summary = "sqrt(sum(x * x)) is ReduceL2",
      .level = Level::kExtended,
      .match = {"%s = ReduceSum(%x * %x, %axes?) {keep_dims=@keep, noop_if_empty=false}  %y = Sqrt(%s)",
                "%p = Pow(%x, 2)  %s = ReduceSum(%p, %axes?) {keep_dims=@keep, noop_if_empty=false}"
                "%y = Sqrt(%s)",
                "%s = ReduceSumSquare(%x, %axes?) {keep_dims=@keep, noop_if_empty=false}  %y = Sqrt(%s)"},
      .emit = "%y = ReduceL2(%x, %axes) {keep_dims=@keep}",
      .when = HasFloatX};
}

TERN_RULE(RecomposeReduceL1) {
  return Rule{.summary = "sum(|x|) is ReduceL1",
              .level = Level::kExtended,
              .match = {"%y = ReduceSum(Abs(%x), %axes?) {keep_dims=@keep, noop_if_empty=false}"},
              .emit = "%y = ReduceL1(%x, %axes) {keep_dims=@keep}",
              .when = HasFloatX};
}

}  // namespace tern
