// The functions of a version that Scheduler::Remove, Retire and Retired call.
#pragma once
#include <chrono>

namespace tern::server {

class Removable {
 public:
  virtual ~Removable() = default;
  // Returns when all accepted requests are answered. After `limit`, answers the remaining requests with
  // kUnavailable. If `refuse` is true, refuses new requests from the start of the call. Otherwise refuses new
  // requests only if requests remain after `limit`.
  virtual void Drain(std::chrono::milliseconds limit, bool refuse) = 0;
  // Returns whether all accepted requests are answered. Does not wait.
  virtual bool Drained() const = 0;
};

}  // namespace tern::server
