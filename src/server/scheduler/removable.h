// The function of a version that Scheduler::Remove calls.
#pragma once
#include <chrono>

namespace tern::server {

class Removable {
 public:
  virtual ~Removable() = default;
  // Returns when all accepted requests are answered; after `limit` answers those that are left with
  // kUnavailable. refuse: refuses new requests from the beginning, else only after `limit`.
  virtual void Drain(std::chrono::milliseconds limit, bool refuse) = 0;
};

}  // namespace tern::server
