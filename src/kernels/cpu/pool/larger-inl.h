// Which of two numbers max pooling keeps: one rule for numbers and vectors of them. Files of every
// instruction set include it, so that all of it is local to them.
#pragma once

namespace tern::cpu {
namespace {

// NaN where there is one.
template <class T> inline T Larger(T a, T b) { return (a > b) | (a != a) ? a : b; }

}  // namespace
}  // namespace tern::cpu
