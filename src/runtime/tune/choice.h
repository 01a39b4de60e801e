// The kernel that was chosen for a node, and the reason.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernel_api/kernel_table.h"

namespace tern {

enum class Reason : uint8_t {
  kOnly,       // no other kernel is legal
  kEstimated,  // lowest estimated time
  kMeasured,   // lowest time, measured by this session
  kRecorded,   // lowest time, measured earlier and read from the record
  kPacked,     // best of the kernels with the node's decided pack layout (see Model::Choose)
  kClose,      // lowest estimated time, and within 5 % of the lowest measured time
};
const char* TextOf(Reason reason);

struct Candidate {
  std::string kernel;
  bool legal = false;
  std::string why_not;      // why the kernel is not legal; may be empty
  double estimated_us = 0;  // estimated time on one thread
  double measured_us = 0;   // 0 if not measured
  std::vector<Work> work;   // basis of the estimate; empty if the kernel has no work_of
};

struct Choice {
  const Node* node = nullptr;
  std::string kernel;
  Reason reason = Reason::kOnly;
  std::vector<Candidate> candidates;  // legal kernels come first, sorted by estimated time
  // Number of slices of a split batch that have this choice. Times are per slice.
  int64_t slices = 1;
  // Whether the node is a dynamic step. Each run chooses its kernel, and this is the choice of the last run.
  bool in_run = false;
};

}  // namespace tern
