// Conditions of several rules of this folder. If a condition is false, it records the reason.
#pragma once
#include "passes/rewrite/match.h"

namespace tern {

bool HasFloatX(const Match& m);       // whether x is a float
bool HasScalarSlope(const Match& m);  // also whether the slope a is one number

}  // namespace tern
