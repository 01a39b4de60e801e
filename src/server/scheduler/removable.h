// What Scheduler::Remove needs of a version.
#pragma once
#include <chrono>

namespace tern::server {

class Removable {
 public:
  virtual ~Removable() = default;
  // Refuses new requests. Returns when all accepted ones are answered; after `limit` answers those that are
  // left with kUnavailable.
  virtual void Drain(std::chrono::milliseconds limit) = 0;
};

}  // namespace tern::server
