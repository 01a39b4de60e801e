// The maximum of max pooling, for scalars and vectors. Included by the files of every instruction set, so
// that everything in it is local to them.
#pragma once

namespace tern::cpu {
namespace {

// The larger of both; NaN if either is NaN.
template <class T> inline T Larger(T a, T b) { return (a > b) | (a != a) ? a : b; }

}  // namespace
}  // namespace tern::cpu
