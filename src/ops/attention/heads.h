// The two layouts of attention's operands: split [batch, heads, length, size] and packed
// [batch, length, heads*size].
#pragma once
#include <array>

#include "ir/infer_context.h"
#include "ops/support/operands.h"

namespace tern {

// Returns the shape of an input as [batch, heads, length, size], whichever layout the input has. Dims may be
// unknown. `heads` is the number of heads. It may be 0 (unknown) only if the input is split.
Result<Shape> SplitShape(const InferContext& c, const char* port, int64_t heads);
// JointShapes is for one input [batch, length, (q_heads + 2*kv_heads)*size] that contains q, k and v. It
// returns the split shapes of q, k and v.
struct OperandShapes {
  Shape q, k, v;
};
Result<OperandShapes> JointShapes(const InferContext& c, const char* port, int64_t q_heads, int64_t kv_heads);
// Like SplitShape, but for known dims. Both functions return batch, heads, length and size.
using HeadDims = std::array<int64_t, 4>;
Result<HeadDims> SplitHeads(const char* port, const Dims& dims, int64_t heads);
Result<Dims> SplitDims(const char* port, const Dims& dims, int64_t heads);

}  // namespace tern
