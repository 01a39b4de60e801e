// The two layouts of attention's operands: split [batch, heads, length, size] and packed
// [batch, length, heads*size].
#pragma once
#include <array>

#include "ir/infer_context.h"
#include "ops/support/operands.h"

namespace tern {

// Returns the split shape of an input in either layout: four dims, some of which may be unknown. `heads` is
// the number of heads, or 0 if it is unknown. The packed layout requires it.
Result<Shape> SplitShape(const InferContext& c, const char* port, int64_t heads);
// JointShapes returns the split shapes of q, k and v that one input contains: [batch, length, (q_heads +
// 2*kv_heads)*size].
struct OperandShapes {
  Shape q, k, v;
};
Result<OperandShapes> JointShapes(const InferContext& c, const char* port, int64_t q_heads, int64_t kv_heads);
// Like SplitShape, for known dims. Returns batch, heads, length and size.
using HeadDims = std::array<int64_t, 4>;
Result<HeadDims> SplitHeads(const char* port, const Dims& dims, int64_t heads);
Result<Dims> SplitDims(const char* port, const Dims& dims, int64_t heads);

}  // namespace tern
