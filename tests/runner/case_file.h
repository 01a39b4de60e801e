// Test cases as data: reads .case files. A case is a node, its operands, and what it must give.
//
//   op Activation kind="leaky_relu" alpha=0.1     the op and its attributes, as in the text form of graphs
//   in x f32[5] = -2 -1 0 3 nan                   an input; `= rand(SEED,LOW,HIGH)`: seeded random numbers
//   const w f32[2] = 1 2                          the same, but a constant of the graph
//   absent                                        an optional input that is not given
//   out y f32[5] = -0.2 -0.1 0 3 nan              an expected output; `= reference`: what the reference
//                                                 evaluator gives
//   tolerance 1e-4                                relative and absolute, in place of the element type's own
//   fails "part of the message"                   in place of `out`: the graph is refused, or the run fails
//   by_reference f16 bf16 "the reason"            no kernel runs the node, though its op has some; types: for
//                                                 these of `foreach` only
//   end
//   sweep f32[1] f32[7] f32[0] rand(1,-4,4)       one input of each type; expected is what the reference
//                                                 evaluator gives
//   MatMul {alpha=0.5} : f32[2,3] f32[3,4]! -> 1 @1e-4
//                                                 a case on one line: node, operands (operand.h), number of
//                                                 outputs, tolerance; expected is what the reference gives
//   foreach T f32 f16 bf16                        the lines up to `end` are repeated, the word T replaced
//   foreach K of Unary.kind but not bitwise_not   the same with every choice that the op declares, less those
//                                                 behind `but`; several such lines: all combinations
//
// A case fails where its op has kernels and the session runs the reference evaluator instead, so that the
// reference is compared with itself; `by_reference` says that it does, and fails where it does not.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "core/datum.h"

namespace tern {

struct CaseInput {
  std::string name;
  Tensor value;  // undefined: absent
  bool constant = false;
};

struct CaseOutput {
  std::string name;
  Tensor value;  // undefined: what the reference gives
};

struct Case {
  std::string place;  // "relu.case:7"
  std::string op;
  std::string attrs;     // "alpha=0.1, kind=…"
  std::string operands;  // of a case on one line, as written
  std::vector<CaseInput> inputs;
  std::vector<CaseOutput> outputs;
  std::string fails;         // expected part of an error
  std::string by_reference;  // why no kernel runs the node; empty: one does, or the op has none
  double tolerance = -1;
};

Result<std::vector<Case>> ReadCases(const std::string& path);

}  // namespace tern
