// Counts what goes to the heap while it is alive. Test binaries that link allocation_counter_test.cc only.
#pragma once

namespace tern {

class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  int count() const;  // since construction, on all threads
};

}  // namespace tern
