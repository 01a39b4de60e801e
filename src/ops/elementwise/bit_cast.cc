// BitCast: reinterprets the bits as another element type. If the widths differ, the last axis has the parts
// of the wider elements, the lowest bits first.
#include <cstring>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct BitCast {
  DType to = DType::kF32;
  template <class V> void Visit(V& v) { v("to", to, "the type of y"); }
};

Status Infer(const BitCast& op, InferContext& c) {
  const DType from = c.TypeOf("x");
  if (op.to == DType::kInvalid || op.to == DType::kString)
    return InvalidModel("cannot read bits as ", DTypeName(op.to));
  const int have = BitWidth(from), want = BitWidth(op.to);
  Shape shape = c.ShapeOf("x");
  if (from == DType::kInvalid || have == want) {
    c.Out("y", op.to, shape);
    return {};
  }
  if (have < 8 || want < 8)
    return InvalidModel("widths differ: ", DTypeName(from), " has ", have, " bits, but ", DTypeName(op.to),
                        " has ", want);
  if (have > want) {
    if (shape.ranked) shape.dims.emplace_back(have / want);
  } else if (shape.ranked) {
    if (shape.rank() == 0 || (shape[-1].known() && shape[-1].value() != want / have))
      return InvalidModel("the last dim must be ", want / have, ", the number of ", DTypeName(from),
                          " in one ", DTypeName(op.to), ", got ", shape.ToString());
    shape.dims.pop_back();
  }
  c.Out("y", op.to, shape);
  return {};
}

Status Reference(const BitCast& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  Dims dims = x.dims();
  const int have = BitWidth(x.dtype()), want = BitWidth(op.to);
  if (have > want) dims.push_back(have / want);
  if (have < want) {
    if (dims.empty() || dims.back() != want / have)
      return InvalidArgument("the last dim must be ", want / have, ", got ", x.Describe());
    dims.pop_back();
  }
  Tensor& y = c.Out("y", dims);
  if (x.size()) std::memcpy(y.raw(), x.raw(), x.bytes());
  if (y.dtype() != DType::kBool) return {};
  for (int64_t i = 0; i < y.size(); ++i)
    y.data<uint8_t>()[i] = y.data<uint8_t>()[i] != 0;  // a bool is 0 or 1
  return {};
}

}  // namespace

TERN_OP(BitCast) {
  return OpDef::Of<BitCast>(
             "y = the bits of x as element type `to`; if the widths differ, the last axis has the parts of the wider elements")
      .In("x", kAnyType & ~kStrings)
      .Out("y", kAnyType & ~kStrings)
      .Traits(kPure)
      .Flops(No{"bits are copied"})
      .Batch(No{"the last axis may be added or dropped"})
      .Axes(No{"the last axis may be added or dropped"})
      .Half(HalfRule::kKeep)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
