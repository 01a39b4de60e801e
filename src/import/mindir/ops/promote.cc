#include "import/mindir/ops/promote.h"

namespace tern::mindir {
namespace {

// Orders the kinds of types: bool, integer, float, complex.
int KindOf(DType t) {
  if (IsComplex(t)) return 3;
  if (IsFloat(t)) return 2;
  return IsInt(t) ? 1 : 0;
}

bool IsNumber(const Item& item) { return item.number; }

}  // namespace

DType CommonType(DType a, DType b) {
  if (a == b || b == DType::kInvalid) return a;
  if (KindOf(a) != KindOf(b)) return KindOf(a) > KindOf(b) ? a : b;
  if (BitWidth(a) != BitWidth(b)) return BitWidth(a) > BitWidth(b) ? a : b;
  if (IsFloat(a)) return DType::kF32;  // f16 and bf16
  return IsSignedInt(a) ? a : b;
}

std::pair<Value*, Value*> Promoted(Emit& e, int i, int j) {
  Value *x = e.n.In(i), *y = e.n.In(j);
  if (!x || !y) {
    e.b.Fail(e.n.Bad("input ", x ? j : i, " is missing"));
    Value* none = e.b.Scalar(DType::kF32, 0);
    return {none, none};
  }
  const auto& inputs = e.n.inputs();
  const bool first = IsNumber(inputs[static_cast<size_t>(i)]),
             second = IsNumber(inputs[static_cast<size_t>(j)]);
  const DType a = x->type.dtype, b = y->type.dtype;
  DType common = CommonType(a, b);
  if (first != second) {
    const DType tensor = first ? b : a, number = first ? a : b;
    const DType wide = number == DType::kF64 ? DType::kF32 : number;
    common = KindOf(tensor) >= KindOf(number) ? tensor : wide;
  }
  return {e.Cast(x, common), e.Cast(y, common)};
}

void PromoteAll(Emit& e, std::vector<Value*>& values) {
  DType common = DType::kInvalid;
  for (const Value* v : values)
    common = common == DType::kInvalid ? v->type.dtype : CommonType(common, v->type.dtype);
  for (Value*& v : values) v = e.Cast(v, common);
}

}  // namespace tern::mindir
