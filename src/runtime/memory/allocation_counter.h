// Counts heap allocations during its lifetime. Works only in test binaries that link
// allocation_counter_test.cc.
#pragma once

namespace tern {

class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  int count() const;  // since construction, on all threads
};

}  // namespace tern
