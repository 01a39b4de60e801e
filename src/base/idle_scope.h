// The counterpart of ActiveScope (base/thread_pool.h).
#pragma once

namespace tern {

// While one of these lives the calling thread waits for others: the core that it has as one at work is free
// for helpers. Not for a thread inside a loop, whose core stays taken.
class IdleScope {
 public:
  IdleScope();
  ~IdleScope();
  IdleScope(const IdleScope&) = delete;
  IdleScope& operator=(const IdleScope&) = delete;

 private:
  const int at_work_;  // how often the thread was, outside of loops
};

}  // namespace tern
