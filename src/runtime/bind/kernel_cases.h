// One-node graphs as text, run by their kernels and by the reference evaluators; for the tests of this
// folder.
//
//   MatMul {alpha=0.5} : f32[2,3] f32[3,4]            inputs are random
//   Slice : f32[5] i64[1]=(1) i64[1]=(4) -> 1 @0      constants; the number of outputs; the tolerance
//   Clip : f32[9]~ _ f32[]=(1)                        ~ mixes in NaN, infinities, zeros; _ is absent
//   Gather : f32[5,2] i64[4]<5                        integers in [-5, 5)
//   Unary {kind="log"} : f32[7]+                      above zero
//   MatMul : f32[2,3] f32[3,4]!                       random, but a constant of the graph
#pragma once
#include <initializer_list>

namespace tern {

// Every case, at every instruction set of the machine, with 1 and 2 threads. No node may fall back to its
// reference.
void CheckKernels(std::initializer_list<const char*> cases);
// The same for each of several element types: T in the text.
void CheckKernels(std::initializer_list<const char*> types, std::initializer_list<const char*> cases);

}  // namespace tern
