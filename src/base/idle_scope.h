// The counterpart of ActiveScope (base/thread_pool.h).
#pragma once

namespace tern {

// While an IdleScope exists, the calling thread counts as waiting, so that helpers of the thread pool may use
// its core. Has no effect inside a parallel loop or outside an ActiveScope.
class IdleScope {
 public:
  IdleScope();
  ~IdleScope();
  IdleScope(const IdleScope&) = delete;
  IdleScope& operator=(const IdleScope&) = delete;

 private:
  const int active_depth_;  // number of nested ActiveScopes of the thread; 0 inside a parallel loop
};

}  // namespace tern
