// Which kernel a node got, and why.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernel_api/kernel_table.h"

namespace tern {

enum class Reason : uint8_t {
  kOnly,       // no other kernel is legal
  kEstimated,  // the least estimated time
  kMeasured,   // the least time measured by this session
  kRecorded,   // the least time measured once, read from the record
  kPacked,     // the best of those that pack weights for the node's representative dims
  kClose,      // the least estimated time, and nearly the least of those measured
};
const char* TextOf(Reason reason);

struct Candidate {
  std::string kernel;
  bool legal = false;
  std::string why_not;      // of one that is not legal, where it is known
  double estimated_us = 0;  // on one thread
  double measured_us = 0;   // 0: not measured
  std::vector<Work> work;   // what the estimate was made of, where the kernel tells
};

struct Choice {
  const Node* node = nullptr;
  std::string kernel;
  Reason reason = Reason::kOnly;
  std::vector<Candidate> candidates;  // legal ones first, by estimated time
  int64_t slices = 1;                 // slices of a split batch with this choice; times are of one slice
  bool in_run = false;  // chosen in each run, where shapes depend on data; this is the last choice
};

}  // namespace tern
