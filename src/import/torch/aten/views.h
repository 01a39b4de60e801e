// Views: which operators return them, and how a write to a view changes its base.
#pragma once
#include "import/torch/aten/call.h"
#include "import/torch/aten/converter.h"

namespace tern::torch {

// A call whose arguments are bound to its schema.
struct BoundCall {
  const Schema* schema;
  std::vector<Arg> args;
  Place place;
};

// Makes the results of a call views of the arguments with which they share memory.
Status LinkViews(TorchContext& context, const BoundCall& call, std::vector<Arg>& results);

// Runs the converter of a functional operator. Returns its results, which are new tensors.
Result<std::vector<Arg>> Convert(TorchContext& context, const BoundCall& call);

// Returns `base` with the elements start, start + step, … before `end` along `dim` replaced by `part`.
// `start` and `end` may be negative or None, as in a Python slice.
Value* PutSlice(Builder& b, Value* base, Value* part, int64_t dim, const Arg& start, const Arg& end,
                int64_t step);

}  // namespace tern::torch
