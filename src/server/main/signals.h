// Receives signals one by one with Wait, without signal handlers.
#pragma once
#include <chrono>
#include <csignal>

namespace tern::server {

// Blocks SIGINT, SIGTERM and SIGHUP for the calling thread and for threads that it starts later, so that Wait
// receives them. Ignores SIGPIPE. The destructor restores the signal mask and the action of SIGPIPE.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  // Returns the next signal, or 0 after `limit`.
  int Wait(std::chrono::milliseconds limit);

 private:
  sigset_t set_, before_;
  struct sigaction pipe_;
};

}  // namespace tern::server
