#include <algorithm>

#include "ops/elementwise/binary_kind.h"

namespace tern {
namespace {

// Returns whether d is allowed as a divisor. It must be a positive number, or an expression that is never
// negative. If the expression is 0 at run time, Dim::Evaluate of the quotient returns nullopt.
bool IsDivisor(const Dim& d) { return d.known() ? d.value() > 0 : d.NonNegative(); }

Dim Divide(const Dim& a, const Dim& b, bool integers) {
  if (a.known() && b.known()) {
    if (b.value() == 0 || (a.value() == INT64_MIN && b.value() == -1)) return {};
    return integers || a.value() % b.value() == 0 ? Dim(a.value() / b.value()) : Dim();
  }
  if (b.Is(1)) return a;
  if (a.unknown() || b.unknown() || !IsDivisor(b)) return {};
  const Dim floor = FloorDiv(a, b);
  if (floor * b == a) return floor;  // divides exactly, so the sign does not matter
  return integers && a.NonNegative() ? floor : Dim();
}

Dim Remainder(const Dim& a, const Dim& b) {
  if (!IsDivisor(b)) return {};
  return a.NonNegative() ? Mod(a, b) : Dim();  // for a >= 0 and b > 0, kMod and kFmod are equal
}

Dim Truth(std::optional<bool> v) { return v ? Dim(*v ? 1 : 0) : Dim(); }

// Returns whether a < b, or nullopt if this depends on symbols.
std::optional<bool> Less(const Dim& a, const Dim& b) {
  if (a.known() && b.known()) return a.value() < b.value();
  if (a == b) return false;
  if (b.known() && b.value() <= 0 && a.NonNegative()) return false;
  if (a.known() && a.value() < 0 && b.NonNegative()) return true;
  return std::nullopt;
}

std::optional<bool> Not(std::optional<bool> v) { return v ? std::optional<bool>(!*v) : v; }

std::optional<bool> Equal(const Dim& a, const Dim& b) {
  if (a == b) return true;
  if (a.known() && b.known()) return false;
  if (Less(a, b) == true || Less(b, a) == true) return false;
  return std::nullopt;
}

std::optional<Dim> Apply(BinaryKind kind, const Dim& a, const Dim& b, bool integers) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSub:
      return a - b;
    case BinaryKind::kMul:
      return a * b;
    case BinaryKind::kDiv:
      return Divide(a, b, integers);
    case BinaryKind::kMod:
    case BinaryKind::kFmod:
      return Remainder(a, b);
    case BinaryKind::kMin:
      return Min(a, b);
    case BinaryKind::kMax:
      return Max(a, b);
    case BinaryKind::kEqual:
      return Truth(Equal(a, b));
    case BinaryKind::kLess:
      return Truth(Less(a, b));
    case BinaryKind::kGreater:
      return Truth(Less(b, a));
    case BinaryKind::kLessEqual:
      return Truth(Not(Less(b, a)));
    case BinaryKind::kGreaterEqual:
      return Truth(Not(Less(a, b)));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Content> BinaryContent(BinaryKind kind, const Content& a, const Content& b, bool integers) {
  const size_t n = a.size() == 1 ? b.size() : a.size();
  if ((a.size() != n && a.size() != 1) || (b.size() != n && b.size() != 1)) return std::nullopt;
  Content out;
  for (size_t i = 0; i < n; ++i) {
    auto d = Apply(kind, a.size() == 1 ? a[0] : a[i], b.size() == 1 ? b[0] : b[i], integers);
    if (!d) return std::nullopt;
    out.push_back(std::move(*d));
  }
  return out;
}

}  // namespace tern
