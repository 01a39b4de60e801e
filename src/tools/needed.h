// Finds the ops and kernels that models need, for a mini build (docs/guide/mini.md).
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/model/precision.h"

namespace tern::tools {

// The parts of Tern that some models need.
struct Needed {
  std::set<std::string> ops;
  std::set<std::string> kernels;     // names of kernels
  std::set<std::string> references;  // ops that the reference evaluator may run
};

// Adds what sessions need to run `graph`, which must be optimized and may have open dims. Compiles plans for
// several sizes of the open dims, and records the kernels that are chosen. Where kernels are chosen at run
// time, or if no plan can be compiled, adds all kernels of the op.
Status AddNeeded(const Graph& graph, Precision precision, Needed& needed);

}  // namespace tern::tools
