// Counts heap allocations, or makes one of them fail. Works only in test binaries that link
// allocation_counter_test.cc.
#pragma once

namespace tern {

// Counts heap allocations from its construction to its destruction.
class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  int count() const;  // since construction, on all threads
};

// While an AllocationFailure exists, call number n of operator new throws std::bad_alloc. The calls of all
// threads are counted together, from 0.
class AllocationFailure {
 public:
  explicit AllocationFailure(int n);
  ~AllocationFailure();
};

}  // namespace tern
