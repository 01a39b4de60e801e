// The counterpart of ActiveScope (base/thread_pool.h).
#pragma once

namespace tern {

// Marks the calling thread as waiting: its core is free for helpers of the thread pool. Has no effect inside
// a parallel loop.
class IdleScope {
 public:
  IdleScope();
  ~IdleScope();
  IdleScope(const IdleScope&) = delete;
  IdleScope& operator=(const IdleScope&) = delete;

 private:
  const int active_depth_;  // nesting depth of the thread's ActiveScopes; 0 inside a loop
};

}  // namespace tern
