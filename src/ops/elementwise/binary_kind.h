// The functions of Binary, shared by its evaluator and its shape arithmetic.
#pragma once
#include <optional>

#include "ir/infer_context.h"

namespace tern {

enum class BinaryKind {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMod,
  kFmod,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kPrelu
};

inline bool IsComparison(BinaryKind k) { return k >= BinaryKind::kEqual && k <= BinaryKind::kGreaterEqual; }

// Symbolic elements of kind(a, b); nothing when the function has no symbolic form. Single elements may come
// out unknown. `integers`: division truncates; otherwise it must come out even.
std::optional<Content> BinaryContent(BinaryKind kind, const Content& a, const Content& b, bool integers);

}  // namespace tern
