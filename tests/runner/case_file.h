// Test cases as data: reads .case files.
//
//   op Activation kind="leaky_relu" alpha=0.1     the op and its attributes, as in the text form of graphs
//   foreach T f32 f16 bf16                        repeats the cases up to `end` with T replaced
//   in x T[5] = -2 -1 0 3 nan                     an input; `= rand(SEED,LOW,HIGH)`: seeded random numbers
//   const w f32[2] = 1 2                          an input that is a constant of the graph
//   absent                                        an optional input that is absent
//   out y T[5] = -0.2 -0.1 0 3 nan                an expected output; `= reference`: the evaluator's result
//   tolerance 1e-4                                relative and absolute, instead of the type's default
//   end
//   sweep f32[1] f32[7] f32[0] rand(1,-4,4)       a case per type, with the evaluator's result expected
//   fails "part of the message"                   instead of `out`: the graph is invalid, or the run fails
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
  std::string type;
  Tensor value;  // undefined: what the reference gives
};

struct Case {
  std::string place;  // "relu.case:7"
  std::string op;
  std::string attrs;  // "alpha=0.1, kind=…"
  std::vector<CaseInput> inputs;
  std::vector<CaseOutput> outputs;
  std::string fails;  // expected part of an error
  double tolerance = -1;
};

Result<std::vector<Case>> ReadCases(const std::string& path);

}  // namespace tern
