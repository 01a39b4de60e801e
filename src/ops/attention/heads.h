// The two layouts of attention's operands: split [batch, heads, length, size] and packed
// [batch, length, heads*size].
#pragma once
#include <array>

#include "ir/infer_context.h"
#include "ops/support/operands.h"

namespace tern {

// The split shape of an input of either layout. heads: the head count of the packed layout, 0 if unknown.
// Always four dims, some of which may be unknown.
Result<Shape> SplitShape(const InferContext& c, const char* port, int64_t heads);
// The split shapes of q, k and v in one input: [batch, length, (q_heads + 2*kv_heads)*size].
struct OperandShapes {
  Shape q, k, v;
};
Result<OperandShapes> JointShapes(const InferContext& c, const char* port, int64_t q_heads, int64_t kv_heads);
// The same for known dims: [batch, heads, length, size].
using HeadDims = std::array<int64_t, 4>;
Result<HeadDims> SplitHeads(const char* port, const Dims& dims, int64_t heads);
Result<Dims> SplitDims(const char* port, const Dims& dims, int64_t heads);

}  // namespace tern
