// BitCast: reinterprets the bits as another element type of the same width.
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
  if (from != DType::kInvalid && BitWidth(from) != BitWidth(op.to))
    return InvalidModel("widths differ: ", DTypeName(from), " has ", BitWidth(from), " bits, but ",
                        DTypeName(op.to), " has ", BitWidth(op.to));
  c.Out("y", op.to, c.ShapeOf("x"));
  return {};
}

Status Reference(const BitCast&, EvalContext& c) {
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  if (x.size()) std::memcpy(y.raw(), x.raw(), x.bytes());
  if (y.dtype() != DType::kBool) return {};
  for (int64_t i = 0; i < y.size(); ++i)
    y.data<uint8_t>()[i] = y.data<uint8_t>()[i] != 0;  // a bool is 0 or 1
  return {};
}

}  // namespace

TERN_OP(BitCast) {
  return OpDef::Of<BitCast>("y = the bits of x as element type `to`")
      .In("x", kAnyType & ~kStrings)
      .Out("y", kAnyType & ~kStrings)
      .Traits(kPure | kElementwise)
      .Half(HalfRule::kKeep)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
