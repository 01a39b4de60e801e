// Questions that rules ask about values and nodes. Pointers may be null: nothing is true of nothing.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/axis_map.h"

namespace tern {

// The value of a constant with one element, where a double holds it.
std::optional<double> ScalarOf(const Value* v);
// A constant with one element that is `expected` but for the rounding of its type.
bool IsScalar(const Value* v, double expected);
// The value that all elements of a constant share, where a double holds it.
std::optional<double> UniformOf(const Value* v);
// A constant whose elements are all numbers; and none of them zero, so that it can be divided by.
bool AllFinite(const Value* v);
bool AllFinite(const Tensor& floats);
bool AllFiniteAndNotZero(const Value* v);
// None so small that its type holds fewer digits of it.
bool AllNormal(const Value* v);
// Whether x + a + b is another number than x + sum: a large `a` rounds x, which `b` then uncovers, as in
// (x + 12582912) - 12582912 for the nearest whole number.
bool RoundsByCancelling(double a, double b, double sum, DType dtype);
// The same for constants; sum may be broadcast.
bool RoundsByCancelling(const Value* a, const Value* b, const Value* sum);
// The elements of an integer constant, as IntsOf gives them, also where an element is known for shapes only
// symbolically.
std::optional<Content> ContentOf(const Value* v);

// Works on [N, spatial…, C]. Rules speak of [N, C, spatial…] unless they say otherwise: patterns match no
// other nodes, MadeBy finds none, and such a node is no root.
bool ChannelsLast(const Node& node);

// Made by this op (and kind); null otherwise.
Node* MadeBy(const Value* v, std::string_view op);
Node* MadeBy(const Value* v, std::string_view op, std::string_view kind);
bool IsOp(const Node& node, std::string_view op);
bool IsOp(const Node& node, std::string_view op, std::string_view kind);
// The attribute `kind`, or nothing.
std::string KindName(const Node& node);

// Of Conv, ConvTranspose, MatMul: neither a residual nor an activation stands between the sums and the
// result.
bool NoEpilogue(const Node& node);

// One reader, and not an output of any graph.
bool OnlyUse(const Value* v);
Node* OnlyReader(const Value* v);  // null unless OnlyUse

// Provably the same shape.
bool SameShape(const Value* a, const Value* b);
bool SameType(const Value* a, const Value* b);
// Every dim of v, from the right, is one or the same dim of `whole`: adding or multiplying by v keeps the
// shape of `whole`.
bool BroadcastsInto(const Value* v, const Value* whole);
bool IsFloatValue(const Value* v);

// How many elements, where all dims are known.
std::optional<int64_t> CountOf(const Value* v);

// Dims as the content of a shape, for Reshape and the like: a number, or -1 for one dim that is not known.
std::optional<std::vector<int64_t>> ReshapeTarget(const Shape& shape);

// axis, counted from the front; nothing when the rank is unknown.
std::optional<int> AxisOf(int64_t axis, const Value* v);

}  // namespace tern
