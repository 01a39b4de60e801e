// The functions of Unary, for it and for ops that apply them to their own results.
#pragma once
#include <vector>

namespace tern {

// Up to kMish: from floats to floats.
enum class UnaryKind {
  kAbs,
  kNeg,
  kSign,
  kCeil,
  kFloor,
  kRound,
  kSqrt,
  kReciprocal,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kSigmoid,
  kRelu,
  kSoftplus,
  kSoftsign,
  kHardSwish,
  kMish,
  kNot,
  kBitwiseNot,
  kIsNan
};

const std::vector<const char*>& UnaryNames();  // in the order of UnaryKind
// Of a float; `not` and `bitwise_not` have no value.
double UnaryValue(UnaryKind kind, double x);

}  // namespace tern
