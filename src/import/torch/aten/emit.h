// Short functions that emit the ops that converters use most.
#pragma once
#include "import/torch/aten/scalar.h"

namespace tern::torch {

class Emit {
 public:
  explicit Emit(Builder& builder) : b(builder) {}
  Builder& b;

  Value* Binary(const char* kind, Value* x, Value* y) { return b.Op("Binary", {x, y}, {{"kind", kind}}); }
  Value* Add(Value* x, Value* y) { return Binary("add", x, y); }
  Value* Sub(Value* x, Value* y) { return Binary("sub", x, y); }
  Value* Mul(Value* x, Value* y) { return Binary("mul", x, y); }
  Value* Div(Value* x, Value* y) { return Binary("div", x, y); }
  Value* Unary(const char* kind, Value* x) { return b.Op("Unary", {x}, {{"kind", kind}}); }
  Value* Not(Value* x) { return Unary("not", x); }
  Value* Cast(Value* x, DType to) { return x->type.dtype == to ? x : b.Op("Cast", {x}, {{"to", to}}); }
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
  Value* Unsqueeze(Value* x, std::vector<int64_t> axes) { return b.Op("Unsqueeze", {x, b.Ints(axes)}); }
  Value* Squeeze(Value* x, std::vector<int64_t> axes) { return b.Op("Squeeze", {x, b.Ints(axes)}); }
  Value* Reshape(Value* x, const std::vector<int64_t>& dims) { return b.Op("Reshape", {x, b.Ints(dims)}); }
  Value* ReshapeTo(Value* x, Value* shape) { return b.Op("Reshape", {x, shape}, {{"allow_zero", true}}); }
  Value* Reduce(const char* kind, Value* x, const std::vector<int64_t>& axes, bool keep) {
    return b.Op("Reduce", {x, b.Ints(axes)}, {{"kind", kind}, {"keep_dims", keep}});
  }
  Value* Concat(const std::vector<Value*>& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : b.Op("Concat", parts, {{"axis", axis}});
  }
  Value* Slice(Value* x, int64_t axis, int64_t start, int64_t end, int64_t step = 1) {
    return b.Op("Slice", {x, b.Ints({start}), b.Ints({end}), b.Ints({axis}), b.Ints({step})});
  }
  Value* Shape(Value* x) { return b.Op("Shape", {x}); }
  Value* Expand(Value* x, Value* shape) { return b.Op("Expand", {x, shape}); }
  // A tensor of the given dims (i64[n]), filled with one number.
  Value* Fill(Value* shape, DType dtype, double v) {
    return b.Op("Fill", {shape}, {{"value", Tensor::Of(dtype, {1}, {v})}});
  }
  // 0, 1, … count - 1 as i64; `count` is a scalar.
  Value* Iota(Value* count) { return b.Op("Range", {Long(0), count, Long(1)}); }
};

}  // namespace tern::torch
