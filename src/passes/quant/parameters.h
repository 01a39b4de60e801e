// Predicates on scales and zero points.
#pragma once
#include "ir/graph.h"

namespace tern {

// The same value, or two equal constants.
bool SameParameter(const Value* a, const Value* b);
// An absent zero point is 0.
bool SameZeroPoint(const Value* a, const Value* b);
bool AllZero(const Value* zero);
// A constant in [1e-30, 1e30], so that (q * scale) / scale is exactly q in f32.
bool OrdinaryScale(const Value* scale);
// The Quantize divides in f32.
bool InSingle(const Node& quantize);
// One scale and zero point for all elements.
bool OneScale(const Node& node);

// Whether Quantize, with constant parameters, saturates for all inputs from `high` upwards and from `low`
// downwards.
bool Saturates(const Node& quantize, double low, double high);

// The producer of v if it is a Dequantize of 8 or 16 bits to f32 with f32 scales, not in blocks; else null.
const Node* PlainDequantize(const Value* v);
// A Quantize from f32 to 8 or 16 bits with one f32 scale.
bool IsPlainQuantize(const Node& node);

}  // namespace tern
