#include "ops/support/operands.h"

namespace tern {

bool Differ(const Dim& a, const Dim& b) { return a.known() && b.known() && a.value() != b.value(); }

Dim MoreSpecific(const Dim& a, const Dim& b) {
  if (a.known()) return a;
  if (b.known()) return b;
  return a.unknown() ? b : a;
}

Status CheckBroadcastsTo(const char* port, const Shape& from, const Shape& to) {
  if (!from.ranked || !to.ranked) return {};
  bool fits = from.rank() <= to.rank();
  for (int i = 1; fits && i <= from.rank(); ++i) fits = from[-i].Is(1) || !Differ(from[-i], to[-i]);
  if (fits) return {};
  return InvalidModel("input '", port, "' ", from.ToString(), " does not broadcast to ", to.ToString());
}

Status CheckVector(InferContext& c, const char* port, const Dim& size) {
  if (!c.Has(port) || !c.ShapeOf(port).ranked) return {};
  const Shape& s = c.ShapeOf(port);
  if (s.rank() != 1) return InvalidModel("input '", port, "' must have rank 1, got ", s.ToString());
  if (Differ(s[0], size))
    return InvalidModel("input '", port, "' must have ", size.value(), " elements, got ", s[0].value());
  return {};
}

Status CheckTermType(InferContext& c, const char* port, DType& type) {
  const DType own = c.TypeOf(port);
  if (type == DType::kInvalid) type = own;
  if (own != DType::kInvalid && own != type)
    return InvalidModel("input '", port, "' must be ", DTypeName(type), ", got ", DTypeName(own));
  return {};
}

Result<DType> ProductType(DType a, DType b) {
  if (a == DType::kInvalid || b == DType::kInvalid)
    return a == DType::kInvalid && IsFloat(b) ? b : IsFloat(a) ? a : DType::kInvalid;
  if (IsFloat(a) != IsFloat(b) || (IsFloat(a) && a != b))
    return InvalidModel("element types ", DTypeName(a), " and ", DTypeName(b), " cannot be multiplied");
  if (IsFloat(a)) return a;
  const int width = std::max(BitWidth(a), BitWidth(b));
  if (a == b && width >= 32) return a;
  return width >= 64 ? DType::kI64 : DType::kI32;
}

}  // namespace tern
