// Input checks for ops with subgraphs.
#pragma once
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// Fails if one of the inputs from number `from` to the last is absent, because the body needs them.
inline Status RequireInputs(const InferContext& c, int from = 0) {
  for (int i = from; i < c.InputCount(); ++i)
    if (!c.Has(i)) return InvalidModel("input ", i, " is missing, but the body needs it");
  return {};
}

// Returns the only element of input i, such as a condition. `what` is the name of the input, for the message.
inline Result<int64_t> OneElement(const EvalContext& c, int i, const char* what) {
  if (c.In(i).size() != 1) return InvalidArgument(what, " must have one element, got ", c.In(i).Describe());
  return LoadLong(c.In(i), 0);
}

}  // namespace tern
