// Detects clients that keep a connection busy with frames other than requests.
#pragma once
#include <algorithm>

#include "server/core/message.h"

namespace tern::server {

// Allows `burst` events at once and `rate` per second after that.
class TokenBucket {
 public:
  TokenBucket(double burst, double rate) : burst_(burst), rate_(rate), tokens_(burst) {}
  // Counts one event. Returns false if the event exceeds the allowed rate.
  bool Take(Clock::time_point now) {
    if (last_ != Clock::time_point())
      tokens_ = std::min(burst_, tokens_ + rate_ * std::chrono::duration<double>(now - last_).count());
    last_ = now;
    tokens_ -= 1;
    return tokens_ >= 0;
  }
  void Refill() { tokens_ = burst_; }

 private:
  double burst_, rate_, tokens_;
  Clock::time_point last_;
};

// One per connection. Clients measure the bandwidth with pings while they receive data, so the connection
// refills `pings` when it sends data.
struct FloodGuard {
  TokenBucket pings{200, 5};
  TokenBucket settings{50, 1};
  TokenBucket resets{1000, 200};
  TokenBucket empty{1000, 100};  // DATA frames without data, PRIORITY frames
};

}  // namespace tern::server
