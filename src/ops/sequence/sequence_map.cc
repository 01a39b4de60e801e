// SequenceMap: applies a body to each element of a sequence.
#include "ops/control/inputs.h"

namespace tern {
namespace {

struct SequenceMap : NoAttrs {};

Type ElementOrSelf(const Type& t) { return t.kind == Type::Kind::kSequence && t.element ? *t.element : t; }

Status Infer(const SequenceMap&, InferContext& c) {
  if (c.InputCount() == 0) return InvalidModel("there is no sequence to map");
  TERN_TRY(RequireInputs(c));
  std::vector<Type> inputs;
  for (int i = 0; i < c.InputCount(); ++i) inputs.push_back(ElementOrSelf(c.In(i)));
  TERN_ASSIGN(auto outputs, c.InferSubgraph(0, inputs));
  if (c.OutputCount() > static_cast<int>(outputs.size()))
    return InvalidModel("the body gives ", outputs.size(), " outputs, but the node has ", c.OutputCount());
  for (int i = 0; i < c.OutputCount(); ++i) c.Out(i, Type::SequenceOf(outputs[static_cast<size_t>(i)]));
  return {};
}

Status Reference(const SequenceMap&, EvalContext& c) {
  if (!c.InDatum(0).is_sequence())
    return InvalidArgument("the first input must be a sequence, got ", c.InDatum(0).Describe());
  const size_t length = c.InDatum(0).sequence->size();
  for (int i = 1; i < c.InputCount(); ++i)
    if (c.InDatum(i).is_sequence() && c.InDatum(i).sequence->size() != length)
      return InvalidArgument("the sequences have different lengths: ", length, " and ",
                             c.InDatum(i).sequence->size());
  std::vector<DatumList> results(static_cast<size_t>(c.OutputCount()));
  for (size_t iteration = 0; iteration < length; ++iteration) {
    DatumList inputs;
    for (int i = 0; i < c.InputCount(); ++i)
      inputs.push_back(c.InDatum(i).is_sequence() ? (*c.InDatum(i).sequence)[iteration] : c.InDatum(i));
    TERN_ASSIGN(DatumList out, c.RunSubgraph(0, inputs));
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(out[i]);
  }
  for (size_t i = 0; i < results.size(); ++i)
    c.SetOut(static_cast<int>(i), Datum::SequenceOf(std::move(results[i])));
  return {};
}

}  // namespace

TERN_OP(SequenceMap) {
  return OpDef::Of<SequenceMap>(
             "runs a body once per position, with the elements of all input sequences at this position; input tensors are passed unchanged")
      .VarIn("inputs", 0)
      .VarOut("outputs", 0)
      .Subgraph("body")
      .Traits(kControlFlow)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
