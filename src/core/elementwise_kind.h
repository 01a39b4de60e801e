// The kinds of elementwise functions and their names, shared by ops and kernels. This file contains only
// constants and trivial functions, because files that are compiled per instruction set include it.
#pragma once

namespace tern {

// The kinds kAbs to kMish map floats to floats.
// clang-format off
#define TERN_UNARY_KINDS(X) \
  X(kAbs, "abs") X(kNeg, "neg") X(kSign, "sign") X(kCeil, "ceil") X(kFloor, "floor") \
  X(kRound, "round") X(kSqrt, "sqrt") X(kReciprocal, "reciprocal") X(kExp, "exp") X(kLog, "log") \
  X(kSin, "sin") X(kCos, "cos") X(kTan, "tan") X(kAsin, "asin") X(kAcos, "acos") X(kAtan, "atan") \
  X(kSinh, "sinh") X(kCosh, "cosh") X(kTanh, "tanh") X(kAsinh, "asinh") X(kAcosh, "acosh") \
  X(kAtanh, "atanh") X(kErf, "erf") X(kSigmoid, "sigmoid") X(kRelu, "relu") \
  X(kSoftplus, "softplus") X(kSoftsign, "softsign") X(kHardSwish, "hard_swish") X(kMish, "mish") \
  X(kNot, "not") X(kBitwiseNot, "bitwise_not") X(kIsNan, "isnan")
// These kinds have the parameters alpha and beta.
#define TERN_ACTIVATION_KINDS(X) \
  X(kLeakyRelu, "leaky_relu") X(kElu, "elu") X(kSelu, "selu") X(kCelu, "celu") \
  X(kHardSigmoid, "hard_sigmoid") X(kThresholdedRelu, "thresholded_relu") X(kSwish, "swish") \
  X(kShrink, "shrink") X(kAffine, "affine")
#define TERN_BINARY_KINDS(X) \
  X(kAdd, "add") X(kSub, "sub") X(kMul, "mul") X(kDiv, "div") X(kPow, "pow") X(kMod, "mod") \
  X(kFmod, "fmod") X(kMin, "min") X(kMax, "max") X(kAnd, "and") X(kOr, "or") X(kXor, "xor") \
  X(kBitAnd, "bit_and") X(kBitOr, "bit_or") X(kBitXor, "bit_xor") X(kShiftLeft, "shift_left") \
  X(kShiftRight, "shift_right") X(kEqual, "equal") X(kLess, "less") X(kLessEqual, "less_equal") \
  X(kGreater, "greater") X(kGreaterEqual, "greater_equal") X(kPrelu, "prelu")
// clang-format on

#define TERN_KIND_VALUE(value, text) value,
#define TERN_KIND_NAME(value, text) text,

enum class UnaryKind : int { TERN_UNARY_KINDS(TERN_KIND_VALUE) };
inline constexpr const char* kUnaryNames[] = {TERN_UNARY_KINDS(TERN_KIND_NAME)};

enum class ActivationKind : int { TERN_ACTIVATION_KINDS(TERN_KIND_VALUE) };
inline constexpr const char* kActivationNames[] = {TERN_ACTIVATION_KINDS(TERN_KIND_NAME)};

enum class BinaryKind : int { TERN_BINARY_KINDS(TERN_KIND_VALUE) };
inline constexpr const char* kBinaryNames[] = {TERN_BINARY_KINDS(TERN_KIND_NAME)};

inline bool IsComparison(BinaryKind k) { return k >= BinaryKind::kEqual && k <= BinaryKind::kGreaterEqual; }

}  // namespace tern
