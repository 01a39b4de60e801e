// Emits conversions between two layouts. The packed layout is [batch, length, heads * size], and the split
// layout is [batch, heads, length, size].
#pragma once
#include "ir/builder.h"

namespace tern::onnx {

Value* SplitHeads(Builder& b, Value* packed, int64_t heads);
Value* MergeHeads(Builder& b, Value* split);

}  // namespace tern::onnx
