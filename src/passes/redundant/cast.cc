// Merges consecutive Casts.
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Returns n if the float type represents all integers of up to n bits exactly. Returns 0 for other types.
int ExactIntBits(DType t) {
  return t == DType::kF64 ? 53 : t == DType::kF32 ? 24 : t == DType::kF16 ? 11 : t == DType::kBF16 ? 8 : 0;
}

bool WidensInt(DType from, DType to) {
  const int a = BitWidth(from), b = BitWidth(to);
  if (IsSignedInt(from)) return IsSignedInt(to) && b >= a;
  return IsSignedInt(to) ? b > a : b >= a;
}

bool WidensFloat(DType from, DType to) {
  if (to == DType::kF64) return true;
  return to == DType::kF32 && from != DType::kF64;
}

// True if every value of `from` is a value of `to`.
bool Lossless(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::kBool) return IsInt(to) || ExactIntBits(to) > 0;
  if (IsInt(from)) return IsInt(to) ? WidensInt(from, to) : BitWidth(from) <= ExactIntBits(to);
  return IsFloat(from) && IsFloat(to) && WidensFloat(from, to);
}

// True if a Cast from a to b and a Cast from b to c have the same result as one Cast from a to c.
bool MiddleIsRedundant(DType a, DType b, DType c) {
  if (c == DType::kString || a == DType::kString || IsComplex(a)) return false;
  // A Cast to a smaller integer type drops the high bits, so it does not matter whether one Cast or two Casts
  // drop them. A Cast from float to integer saturates instead.
  if (IsInt(a) && IsInt(b) && IsInt(c) && BitWidth(c) <= BitWidth(b)) return true;
  if (!Lossless(a, b)) return false;
  return !(IsInt(a) && IsFloat(b) && IsInt(c)) || Lossless(a, c);
}

}  // namespace

TERN_RULE(MergeCasts) {
  return Rule{.summary =
                  "the first of two Casts is redundant when it loses no information, or when both "
                  "drop bits of integers; a lossless Cast and its inverse cancel",
              .match = {"%a = Cast(%x) shared  %y = Cast(%a) {@cast}"},
              .emit = "%y = Cast(%x) {@cast}",
              .when = [](const Match& m) {
                return MiddleIsRedundant(m.DTypeOf("x"), m.DTypeOf("a"), m.DTypeOf("y")) ||
                       m.Skip("the cast to ", DTypeName(m.DTypeOf("a")), " may lose information");
              }};
}

}  // namespace tern
