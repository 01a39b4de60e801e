// Short functions that emit the ops that converters of all formats use most.
#pragma once
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace tern::import {

// Return the permutation from [N, spatial…, C] to [N, C, spatial…], and the reverse. The rank must be at
// least 2.
std::vector<int64_t> ChannelsFirstPerm(int64_t rank);
std::vector<int64_t> ChannelsLastPerm(int64_t rank);

// Returns a tensor of numbers for a constant or an attribute. If numbers cannot have the type, for example
// because an earlier error left it unknown, reports an error to the builder and returns f32.
Tensor Numbers(Builder& b, DType dtype, const Dims& dims, const std::vector<double>& values);

// The Emit of each importer extends this class.
class EmitBase {
 public:
  explicit EmitBase(Builder& builder) : b(builder) {}
  Builder& b;

  Value* Binary(const char* kind, Value* x, Value* y) { return b.Op("Binary", {x, y}, {{"kind", kind}}); }
  Value* Add(Value* x, Value* y) { return Binary("add", x, y); }
  Value* Sub(Value* x, Value* y) { return Binary("sub", x, y); }
  Value* Mul(Value* x, Value* y) { return Binary("mul", x, y); }
  Value* Div(Value* x, Value* y) { return Binary("div", x, y); }
  Value* Unary(const char* kind, Value* x) { return b.Op("Unary", {x}, {{"kind", kind}}); }
  Value* Not(Value* x) { return Unary("not", x); }
  // Returns x itself if it is null, because it is an input that is absent.
  Value* Cast(Value* x, DType to) { return !x || x->type.dtype == to ? x : b.Op("Cast", {x}, {{"to", to}}); }
  Value* Where(Value* condition, Value* x, Value* y) { return b.Op("Where", {condition, x, y}); }
  // Returns a scalar of x's element type.
  Value* Like(Value* x, double v) { return b.Scalar(x->type.dtype, v); }
  Value* Long(int64_t v) {
    Tensor t(DType::kI64, {});
    t.data<int64_t>()[0] = v;
    return b.Const(std::move(t));
  }
  Value* Transpose(Value* x, std::vector<int64_t> perm) {
    return b.Op("Transpose", {x}, {{"perm", std::move(perm)}});
  }
  // `x` must have a known rank of at least 2.
  Value* ChannelsFirst(Value* x) { return Transpose(x, ChannelsFirstPerm(x->type.shape.rank())); }
  Value* ChannelsLast(Value* x) { return Transpose(x, ChannelsLastPerm(x->type.shape.rank())); }
  Value* Unsqueeze(Value* x, const std::vector<int64_t>& axes) {
    return b.Op("Unsqueeze", {x, b.Ints(axes)});
  }
  Value* Squeeze(Value* x, const std::vector<int64_t>& axes) { return b.Op("Squeeze", {x, b.Ints(axes)}); }
  Value* Concat(const std::vector<Value*>& parts, int64_t axis) {
    return b.Op("Concat", parts, {{"axis", axis}});
  }
  Value* Gather(Value* x, Value* indices, int64_t axis = 0) {
    return b.Op("Gather", {x, indices}, {{"axis", axis}});
  }
  Value* Expand(Value* x, Value* shape) { return b.Op("Expand", {x, shape}); }
  Value* Reduce(const char* kind, Value* x, const std::vector<int64_t>& axes, bool keep) {
    return b.Op("Reduce", {x, b.Ints(axes)}, {{"kind", kind}, {"keep_dims", keep}});
  }
};

}  // namespace tern::import
