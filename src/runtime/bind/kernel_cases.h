// One-node graphs as text, run by all kernels and compared with the reference evaluator; for the tests of
// this folder.
//
//   MatMul {alpha=0.5} : f32[2,3] f32[3,4]            inputs are random
//   Slice : f32[5] i64[1]=(1) i64[1]=(4) -> 1 @0      constants; number of outputs; tolerance
//   Clip : f32[9]~ _ f32[]=(1)                        ~ adds NaN, infinities, zeros; _ is absent
//   Gather : f32[5,2] i64[4]<5                        integers in [-5, 5)
//   Unary {kind="log"} : f32[7]+                      positive
//   MatMul : f32[2,3] f32[3,4]!                       random constant of the graph
#pragma once
#include <initializer_list>

namespace tern {

// Runs every case at every instruction set of the machine, with 1 and 2 threads. Fails if a node falls back
// to the reference evaluator.
void CheckKernels(std::initializer_list<const char*> cases);
// Runs each case for each element type, which replaces T in the text.
void CheckKernels(std::initializer_list<const char*> types, std::initializer_list<const char*> cases);

}  // namespace tern
