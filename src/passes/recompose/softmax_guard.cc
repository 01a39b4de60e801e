// Recognises how PyTorch writes attention whose rows may be masked entirely.
#include <cmath>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// The guard must look at all scores of a row, and the Softmax must run along the row.
bool GuardsRows(const Match& m) {
  if (!IsFloatValue(m.At("s"))) return m.Skip("the scores are not floats");
  const auto hidden = UniformOf(m.At("hidden"));
  if (!hidden || !std::isinf(*hidden) || *hidden > 0) return m.Skip("the scores are not compared with -inf");
  if (m.At("hidden")->type.shape.rank() > 0 && !BroadcastsInto(m.At("hidden"), m.At("s")))
    return m.Skip("the comparison broadcasts the scores");
  const int rank = m.Rank("s");
  const auto axes = ContentOf(m.At("axes"));
  if (rank < 1 || !axes || axes->size() != 1 || !(*axes)[0].known())
    return m.Skip("the comparison is not reduced along one known axis");
  const auto reduced = AxisOf((*axes)[0].value(), m.At("s")), axis = AxisOf(m.Int("axis"), m.At("s"));
  if (!reduced || !axis || *reduced != *axis) return m.Skip("the Softmax runs along another axis");
  return true;
}

}  // namespace

TERN_RULE(RecomposeSoftmaxGuard) {
  return Rule{
      .summary =
          "a Where that puts 0 into the rows of a Softmax whose scores are all -inf replaces NaNs by 0 instead",
      .level = Level::kExtended,
      .match = {R"(%p = Softmax(%s) {axis=@axis, kind="softmax"} shared
                   %y = Where(Cast(Reduce(Cast(Not(Equal(%s, #hidden))), #axes) {kind="max", keep_dims=true}), %p, 0))"},
      .emit = "%y = Where(Unary(%p) {kind=\"isnan\"}, #zero, %p)",
      .when = GuardsRows,
      .compute = [](Match& m) { m.Set("zero", Tensor::Of(m.DTypeOf("p"), {}, {0.0})); }};
}

}  // namespace tern
