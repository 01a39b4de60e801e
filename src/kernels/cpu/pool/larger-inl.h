// The maximum of max pooling, for scalars and vectors. The files of every instruction set include it, so
// everything in it is local to them.
#pragma once

namespace tern::cpu {
namespace {

// Returns the larger of a and b, or NaN if either is NaN.
template <class T> inline T Larger(T a, T b) { return (a > b) | (a != a) ? a : b; }

}  // namespace
}  // namespace tern::cpu
