// Operands of a case on one line.
//
//   f32[5,2]            random
//   f32[3,4]!           random, but a constant of the graph
//   i64[2]=(1,-1)       a constant
//   f32[9]~             NaN, infinities and zeros are mixed in
//   f32[7]+             above zero
//   i64[4]<5            integers in [-5, 5)
//   _                   absent
#pragma once
#include "case_file.h"

namespace tern {

// "MatMul {alpha=0.5} : f32[2,3] f32[3,4]! -> 1 @1e-4" as a case; its place is left to the caller.
Result<Case> ParseOneLine(const std::string& text);

}  // namespace tern
