// Reads test cases from .case files. A case is a node, its operands, and its expected results.
//
//   op Activation kind="leaky_relu" alpha=0.1     the op of the cases below, and its attributes as in
//                                                 the text form of graphs
//   in x f32[5] = -2 -1 0 3 nan                   an input; `= rand(SEED,LOW,HIGH)` sets random numbers
//   const w f32[2] = 1 2                          an input that is a constant of the graph
//   absent                                        an optional input that the node omits
//   out y f32[5] = -0.2 -0.1 0 3 nan              an expected output; with `= reference`, the reference
//                                                 evaluator computes it
//   tolerance 1e-4                                the relative and absolute tolerance; without this line, the
//                                                 type determines the tolerance
//   fails "part of the message"                   replaces `out`: the graph must be refused, or the run must
//                                                 fail, with this message
//   by_reference f16 bf16 "the reason"            no kernel runs the node, although its op has kernels; if
//                                                 values of `foreach` are listed, this holds only for these
//   end
//   sweep f32[1] f32[7] f32[0] rand(1,-4,4)       one case per type, with one input; the reference evaluator
//                                                 computes the expected output
//   MatMul {alpha=0.5} : f32[2,3] f32[3,4]! -> 1 @1e-4
//                                                 a case on one line: node, operands (see operand.h), number
//                                                 of outputs, tolerance for f32; the reference evaluator
//                                                 computes the expected outputs
//   foreach T f32 f16 bf16                        repeats the lines up to `end` with T replaced by each value
//   foreach K of Unary.kind but not bitwise_not   the values are all choices of the attribute, except those
//                                                 after `but` (here the kinds "not" and "bitwise_not")
//
// Several `foreach` lines in a row repeat the lines for all combinations.
//
// If an op has kernels, a case fails if the session runs the reference evaluator instead of a kernel. Such a
// case would compare the reference evaluator with itself. `by_reference` permits this. A case with
// `by_reference` fails if a kernel runs the node.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "core/datum.h"

namespace tern {

struct CaseInput {
  std::string name;
  Tensor value;  // undefined if the input is absent
  bool constant = false;
};

struct CaseOutput {
  std::string name;
  Tensor value;  // undefined if the reference evaluator computes the expected output
};

struct Case {
  std::string place;  // "relu.case:7"
  std::string op;
  std::string attrs;     // "alpha=0.1, kind=…"
  std::string operands;  // the text of the operands, for a case on one line
  std::vector<CaseInput> inputs;
  std::vector<CaseOutput> outputs;
  std::string fails;         // expected part of the error message; empty if the case must not fail
  std::string by_reference;  // why no kernel runs the node; empty if a kernel runs it or the op has none
  double tolerance = -1;     // if negative, the type determines the tolerance
};

Result<std::vector<Case>> ReadCases(const std::string& path);

}  // namespace tern
