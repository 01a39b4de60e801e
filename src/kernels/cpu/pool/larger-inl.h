// The maximum of max pooling, for scalars and vectors. Files of every instruction set include this header, so
// its functions are local to each file.
#pragma once

namespace tern::cpu {
namespace {

// Returns the larger of a and b, or NaN if either is NaN.
template <class T> inline T Larger(T a, T b) { return (a > b) | (a != a) ? a : b; }

}  // namespace
}  // namespace tern::cpu
