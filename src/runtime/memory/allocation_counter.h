// Counts heap allocations, or lets one fail. Works only in test binaries that link
// allocation_counter_test.cc.
#pragma once

namespace tern {

// Counts during its lifetime.
class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  int count() const;  // since construction, on all threads
};

// The n-th call of operator new during its lifetime, counted from 0 on all threads, throws std::bad_alloc.
class AllocationFailure {
 public:
  explicit AllocationFailure(int n);
  ~AllocationFailure();
};

}  // namespace tern
