// The two layouts of attention's operands: split [batch, heads, length, size] and packed
// [batch, length, heads*size].
#pragma once
#include <array>

#include "ir/infer_context.h"
#include "ops/support/spread.h"

namespace tern {

// The split shape of an input of either layout; `heads` belongs to the packed one and is 0 when unknown.
// Always four dims, unknown ones where nothing is known.
Result<Shape> SplitShape(const InferContext& c, const char* port, int64_t heads);
// The split shapes of three operands in one: [batch, length, (q_heads + 2*kv_heads)*size].
struct OperandShapes {
  Shape q, k, v;
};
Result<OperandShapes> JointShapes(const InferContext& c, const char* port, int64_t q_heads, int64_t kv_heads);
// The same for dims that are known: [batch, heads, length, size].
using HeadDims = std::array<int64_t, 4>;
Result<HeadDims> SplitHeads(const char* port, const Dims& dims, int64_t heads);
Result<Dims> SplitDims(const char* port, const Dims& dims, int64_t heads);

}  // namespace tern
