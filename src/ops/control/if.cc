// If: runs one of two graphs, depending on a condition.
#include "ops/control/inputs.h"

namespace tern {
namespace {

struct If : NoAttrs {};

Status Infer(const If&, InferContext& c) {
  TERN_ASSIGN(auto yes, c.InferSubgraph(0, {}));
  TERN_ASSIGN(auto no, c.InferSubgraph(1, {}));
  if (yes.size() != no.size())
    return InvalidModel("the branches give ", yes.size(), " and ", no.size(),
                        " outputs, but must give the same number");
  if (c.OutputCount() > static_cast<int>(yes.size()))
    return InvalidModel("the branches give ", yes.size(), " outputs, but the node has ", c.OutputCount());
  const Tensor* condition = c.Constant("condition");
  for (int i = 0; i < c.OutputCount(); ++i) {
    const auto& a = yes[static_cast<size_t>(i)];
    const auto& b = no[static_cast<size_t>(i)];
    if (condition && condition->size() == 1)
      c.Out(i, LoadLong(*condition, 0) ? a : b);
    else
      c.Out(i, MergeTypes(a, b));
  }
  return {};
}

Status Reference(const If&, EvalContext& c) {
  TERN_ASSIGN(int64_t condition, OneElement(c, 0, "condition"));
  TERN_ASSIGN(DatumList out, c.RunSubgraph(condition ? 0 : 1, {}));
  for (int i = 0; i < c.OutputCount(); ++i) c.SetOut(i, out[static_cast<size_t>(i)]);
  return {};
}

}  // namespace

TERN_OP(If) {
  return OpDef::Of<If>("runs one of two graphs, depending on a condition, and returns its outputs")
      .Setting("condition", kBools)
      .VarOut("outputs", 0)
      .Subgraph("then")
      .Subgraph("else")
      .Traits(kControlFlow)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
