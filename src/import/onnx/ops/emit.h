// Short functions that emit the ops that converters use most.
#pragma once
#include "import/onnx/require.h"

namespace tern::onnx {

class Emit {
 public:
  explicit Emit(OnnxNode& node) : n(node), b(node.b) {}
  OnnxNode& n;
  Builder& b;

  Value* Binary(const char* kind, Value* x, Value* y) { return b.Op("Binary", {x, y}, {{"kind", kind}}); }
  Value* Add(Value* x, Value* y) { return Binary("add", x, y); }
  Value* Sub(Value* x, Value* y) { return Binary("sub", x, y); }
  Value* Mul(Value* x, Value* y) { return Binary("mul", x, y); }
  Value* Unary(const char* kind, Value* x) { return b.Op("Unary", {x}, {{"kind", kind}}); }
  Value* Cast(Value* x, DType to) { return x->type.dtype == to ? x : b.Op("Cast", {x}, {{"to", to}}); }
  // Returns a scalar of x's data type.
  Value* Like(Value* x, double v) { return b.Scalar(x->type.dtype, v); }
  Value* Long(int64_t v) {
    Tensor t(DType::kI64, {});
    t.data<int64_t>()[0] = v;
    return b.Const(std::move(t));
  }
  Value* Transpose(Value* x, std::vector<int64_t> perm) {
    return b.Op("Transpose", {x}, {{"perm", std::move(perm)}});
  }
  Value* Reshape(Value* x, const std::vector<int64_t>& dims) { return b.Op("Reshape", {x, b.Ints(dims)}); }
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
  // Returns the size of an axis as i64[1].
  Value* SizeOf(Value* x, int64_t axis) { return b.Op("Shape", {x}, {{"start", axis}, {"end", axis + 1}}); }
  // Returns the elements [start, end) of x along an axis. `start` and `end` are i64[1].
  Value* Slice(Value* x, Value* start, Value* end, int64_t axis) {
    return b.Op("Slice", {x, start, end, b.Ints({axis})});
  }
  Value* Reduce(const char* kind, Value* x, const std::vector<int64_t>& axes, bool keep) {
    return b.Op("Reduce", {x, b.Ints(axes)}, {{"kind", kind}, {"keep_dims", keep}});
  }
  // Returns 0, 1, …, count - 1. `count` is i64[1].
  Value* CountTo(Value* count) { return b.Op("Range", {Long(0), Squeeze(count, {0}), Long(1)}); }
};

// ChannelsFirst transposes [N, spatial…, C] to [N, C, spatial…]. ChannelsLast does the reverse. `x` must have
// a known rank of at least 2.
inline Value* ChannelsFirst(Emit& e, Value* x) {
  const int64_t rank = x->type.shape.rank();
  std::vector<int64_t> perm = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return e.Transpose(x, perm);
}
inline Value* ChannelsLast(Emit& e, Value* x) {
  const int64_t rank = x->type.shape.rank();
  std::vector<int64_t> perm = {0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return e.Transpose(x, perm);
}

}  // namespace tern::onnx
