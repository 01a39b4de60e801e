// Short functions that emit the ops that converters use most.
#pragma once
#include "import/common/emit.h"
#include "import/torch/aten/scalar.h"

namespace tern::torch {

class Emit : public import::EmitBase {
 public:
  using EmitBase::EmitBase;

  Value* Reshape(Value* x, const std::vector<int64_t>& dims) { return b.Op("Reshape", {x, b.Ints(dims)}); }
  Value* ReshapeTo(Value* x, Value* shape) { return b.Op("Reshape", {x, shape}, {{"allow_zero", true}}); }
  Value* Concat(const std::vector<Value*>& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : b.Op("Concat", parts, {{"axis", axis}});
  }
  Value* Slice(Value* x, int64_t axis, int64_t start, int64_t end, int64_t step = 1) {
    return b.Op("Slice", {x, b.Ints({start}), b.Ints({end}), b.Ints({axis}), b.Ints({step})});
  }
  Value* Shape(Value* x) { return b.Op("Shape", {x}); }
  // A tensor of the given dims (i64[n]), filled with one number.
  Value* Fill(Value* shape, DType dtype, double v) {
    return b.Op("Fill", {shape}, {{"value", import::Numbers(b, dtype, {1}, {v})}});
  }
  // 0, 1, … count - 1 as i64; `count` is a scalar.
  Value* Iota(Value* count) { return b.Op("Range", {Long(0), count, Long(1)}); }
};

}  // namespace tern::torch
