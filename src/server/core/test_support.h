// For tests of the front ends.
#pragma once
#include <cstring>

#include "server/core/control.h"

namespace tern::server {

// Shared memory that is a buffer of the test.
class BufferRange : public SharedMemoryRange {
 public:
  explicit BufferRange(Buffer bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  Status Read(void* to) const override {
    std::memcpy(to, bytes_.data(), bytes_.size());
    return {};
  }
  Status Write(const void* from, uint64_t bytes) const override {
    std::memcpy(bytes_.data(), from, bytes);
    return {};
  }

 private:
  const Buffer bytes_;
};

}  // namespace tern::server
