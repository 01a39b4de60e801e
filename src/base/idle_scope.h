// The counterpart of ActiveScope (base/thread_pool.h).
#pragma once

namespace tern {

// Marks the calling thread as waiting, so that helpers of the thread pool may use its core. Has no effect
// inside a parallel loop.
class IdleScope {
 public:
  IdleScope();
  ~IdleScope();
  IdleScope(const IdleScope&) = delete;
  IdleScope& operator=(const IdleScope&) = delete;

 private:
  const int active_depth_;  // number of nested ActiveScopes of the thread; 0 inside a loop
};

}  // namespace tern
