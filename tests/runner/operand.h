// Parses a case on one line. An operand of such a case has one of these forms:
//
//   f32[5,2]            an input with random numbers
//   f32[3,4]!           a constant of the graph with random numbers
//   i64[2]=(1,-1)       a constant of the graph with these numbers
//   f32[9]~             an input in which every second number is special, such as NaN, infinity or 0
//   f32[7]+             an input with random numbers in [0.1, 3)
//   i64[4]<5            an input with random integers in [-5, 5)
//   _                   an absent input
#pragma once
#include "case_file.h"

namespace tern {

// Parses text such as "MatMul {alpha=0.5} : f32[2,3] f32[3,4]! -> 1 @1e-4". The caller sets Case::place.
Result<Case> ParseOneLine(const std::string& text);

}  // namespace tern
