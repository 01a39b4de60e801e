// Limits the bytes of all requests in the server's memory to Limits::queued_bytes.
#pragma once
#include <utility>

#include "server/core/control.h"

namespace tern::server {

// A reserved number of bytes. The destructor returns them to the budget.
class ByteReservation {
 public:
  ByteReservation() = default;
  ByteReservation(ByteReservation&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ByteReservation& operator=(ByteReservation&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ByteReservation() {
    if (bytes_) context_->queued_bytes.fetch_sub(bytes_, std::memory_order_relaxed);
  }

  // Reserves `bytes` more bytes. If the budget has fewer left, reserves none and returns false.
  bool Add(ServerContext& context, uint64_t bytes) {
    const uint64_t before = context.queued_bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes > context.limits.queued_bytes) {
      context.queued_bytes.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    context_ = &context;
    bytes_ += bytes;
    return true;
  }

 private:
  ServerContext* context_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace tern::server
