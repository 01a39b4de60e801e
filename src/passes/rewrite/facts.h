// Properties of values and nodes, for rules. For a null pointer, each function returns false, null or
// nullopt.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/axis_map.h"

namespace tern {

// Returns the value of a constant with one element, or nullopt if a double cannot represent it exactly.
std::optional<double> ScalarOf(const Value* v);
// True for a constant with one element that equals `expected` up to the rounding of its type.
bool IsScalar(const Value* v, double expected);
// Returns the value that all elements of a constant equal. Returns nullopt if the elements differ, if there
// are none, or if a double cannot represent the value exactly.
std::optional<double> UniformOf(const Value* v);
// AllFinite is true for a float constant without NaN and infinity. AllFiniteAndNotZero is true if the
// constant also contains no 0.
bool AllFinite(const Value* v);
bool AllFinite(const Tensor& floats);
bool AllFiniteAndNotZero(const Value* v);
// True for a finite constant without zeros and subnormal numbers.
bool AllNormal(const Value* v);
// True if (x + a) + b may differ from x + sum, where sum = a + b, because adding a large `a` rounds x. For
// example, (x + 12582912) - 12582912 rounds x to the nearest integer.
bool RoundsByCancelling(double a, double b, double sum, DType dtype);
// The same for constants, which must not be null. Uses the largest magnitude in a and b and the smallest
// magnitude in sum.
bool RoundsByCancelling(const Value* a, const Value* b, const Value* sum);
// Returns the elements of an integer constant of rank 0 or 1, or of the result of a shape computation
// (Value::content). The second kind of elements may be symbolic.
std::optional<Content> ContentOf(const Value* v);

// True if the node works on [N, spatial…, C]. Rules assume [N, C, spatial…], so patterns and MadeBy ignore
// channels-last nodes, and no rule is tried at such a node.
bool ChannelsLast(const Node& node);

// Returns the producer of v if it is a node of this op (and kind). Otherwise returns null.
Node* MadeBy(const Value* v, std::string_view op);
Node* MadeBy(const Value* v, std::string_view op, std::string_view kind);
bool IsOp(const Node& node, std::string_view op);
bool IsOp(const Node& node, std::string_view op, std::string_view kind);
// Returns the attribute `kind`, or "" if the op has none.
std::string KindName(const Node& node);

// True if the node has neither a residual nor an activation. The node must be a Conv, ConvTranspose or
// MatMul.
bool NoEpilogue(const Node& node);

// True if v has one reader and is not an output of any graph.
bool OnlyUse(const Value* v);
Node* OnlyReader(const Value* v);  // null if OnlyUse(v) is false

// True if the shapes are provably the same.
bool SameShape(const Value* a, const Value* b);
bool SameType(const Value* a, const Value* b);
// True if v broadcasts to the shape of `target`. Counted from the right, every dim of v must be 1 or
// provably equal to the dim of `target`.
bool BroadcastsInto(const Value* v, const Value* target);
bool IsFloatValue(const Value* v);

// Returns the number of elements, or nullopt if a dim is unknown.
std::optional<int64_t> CountOf(const Value* v);

// Returns the shape as a target of Reshape, with -1 for an unknown dim. Returns nullopt if several dims
// are unknown, or if one dim is unknown and another dim is 0.
std::optional<std::vector<int64_t>> ReshapeTarget(const Shape& shape);

// Returns `axis`, plus the rank of v if `axis` is negative. Returns nullopt if the rank is unknown or the
// axis is out of range.
std::optional<int> AxisOf(int64_t axis, const Value* v);

}  // namespace tern
