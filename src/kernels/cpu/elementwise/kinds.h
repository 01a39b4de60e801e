// Names of the elementwise functions. Nothing else: files for all instruction sets include it.
#pragma once

namespace tern::cpu {

// In the order of kUnaryNames.
enum class UnaryKind : int {
  kAbs, kNeg, kSign, kCeil, kFloor, kRound, kSqrt, kReciprocal, kExp, kLog, kSin, kCos, kTan, kAsin, kAcos, kAtan,
  kSinh, kCosh, kTanh, kAsinh, kAcosh, kAtanh, kErf, kSigmoid, kRelu, kSoftplus, kSoftsign, kHardSwish, kMish, kNot,
  kBitwiseNot, kIsNan, kLeakyRelu, kElu, kSelu, kCelu, kHardSigmoid, kThresholdedRelu, kSwish, kShrink, kGelu,
  kGeluTanh, kClip
};
inline constexpr const char* kUnaryNames[] = {
    "abs", "neg", "sign", "ceil", "floor", "round", "sqrt", "reciprocal", "exp", "log", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "sigmoid", "relu", "softplus", "softsign",
    "hard_swish", "mish", "not", "bitwise_not", "isnan", "leaky_relu", "elu", "selu", "celu", "hard_sigmoid",
    "thresholded_relu", "swish", "shrink", "gelu", "gelu_tanh", "clip"};

enum class BinaryKind : int {
  kAdd, kSub, kMul, kDiv, kPow, kMod, kFmod, kMin, kMax, kAnd, kOr, kXor, kBitAnd, kBitOr, kBitXor, kShiftLeft,
  kShiftRight, kEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kPrelu
};
inline constexpr const char* kBinaryNames[] = {
    "add", "sub", "mul", "div", "pow", "mod", "fmod", "min", "max", "and", "or", "xor", "bit_and", "bit_or", "bit_xor",
    "shift_left", "shift_right", "equal", "less", "less_equal", "greater", "greater_equal", "prelu"};
inline bool IsComparison(BinaryKind k) { return k >= BinaryKind::kEqual && k <= BinaryKind::kGreaterEqual; }

}  // namespace tern::cpu
