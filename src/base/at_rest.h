// The counterpart of AtWork (base/thread_pool.h).
#pragma once

namespace tern {

// While one of these lives the calling thread waits for others: the core that it has as one at work is free
// for helpers. Not for a thread inside a loop, whose core stays taken.
class AtRest {
 public:
  AtRest();
  ~AtRest();
  AtRest(const AtRest&) = delete;
  AtRest& operator=(const AtRest&) = delete;

 private:
  const int at_work_;  // how often the thread was, outside of loops
};

}  // namespace tern
