// Makes allocations fail in the tests of the C++ and C API. predictor_test.cc replaces operator new for this.
#pragma once
#include <atomic>

namespace tern::test {

inline std::atomic<long> allocations{0};  // all allocations of the process, including the library's
// The number of allocations of this thread that succeed before all later ones fail; negative means no limit.
inline thread_local long allocations_left = -1;

inline bool Allocates() {
  ++allocations;
  if (allocations_left == 0) return false;
  if (allocations_left > 0) --allocations_left;
  return true;
}

}  // namespace tern::test
