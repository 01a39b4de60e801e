// The function of a version that Scheduler::Remove calls.
#pragma once
#include <chrono>

namespace tern::server {

class Removable {
 public:
  virtual ~Removable() = default;
  // Refuses new requests. Returns when all accepted requests are answered. Requests that are not answered
  // after `limit` are answered with kUnavailable.
  virtual void Drain(std::chrono::milliseconds limit) = 0;
};

}  // namespace tern::server
