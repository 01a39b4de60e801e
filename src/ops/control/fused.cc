// Fused: wraps a group of nodes, its body, that one kernel can compute.
#include "ops/control/inputs.h"

namespace tern {
namespace {

struct Fused : NoAttrs {};

Status Infer(const Fused&, InferContext& c) {
  TERN_TRY(RequireInputs(c));
  std::vector<Type> inputs;
  for (int i = 0; i < c.InputCount(); ++i) inputs.push_back(c.In(i));
  TERN_ASSIGN(const std::vector<Type> outputs, c.InferSubgraph(0, inputs));
  if (static_cast<int>(outputs.size()) != c.OutputCount())
    return InvalidModel("the body gives ", outputs.size(), " outputs, but the node has ", c.OutputCount());
  for (int i = 0; i < c.OutputCount(); ++i) c.Out(i, outputs[static_cast<size_t>(i)]);
  return {};
}

Status Reference(const Fused&, EvalContext& c) {
  DatumList inputs;
  for (int i = 0; i < c.InputCount(); ++i) inputs.push_back(c.InDatum(i));
  TERN_ASSIGN(const DatumList outputs, c.RunSubgraph(0, inputs));
  for (int i = 0; i < c.OutputCount(); ++i) c.SetOut(i, outputs[static_cast<size_t>(i)]);
  return {};
}

}  // namespace

// Fused is not kPure, because the body may contain random ops.
TERN_OP(Fused) {
  return OpDef::Of<Fused>("computes its body; a plan runs one kernel for it, or the nodes of the body")
      .VarIn("inputs", 0)
      .VarOut("outputs", 0)
      .Subgraph("body")
      .Traits(kControlFlow)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
