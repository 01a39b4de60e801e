// Limits the bytes of all requests and unsent responses in the server's memory to Limits::queued_bytes.
#pragma once
#include <algorithm>
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

  uint64_t bytes() const { return bytes_; }

  // Reserves `bytes` more bytes. If the budget has fewer left, reserves nothing and returns false.
  bool Add(ServerContext& context, uint64_t bytes) {
    const uint64_t limit = context.limits.queued_bytes;
    if (bytes > limit) return false;  // otherwise the sum could overflow
    const uint64_t before = context.queued_bytes.fetch_add(bytes, std::memory_order_relaxed);
    if (before > limit - bytes) {
      context.queued_bytes.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    context_ = &context;
    bytes_ += bytes;
    return true;
  }

  // Changes the size of the reservation to `bytes`, even beyond the limit. Used for responses, whose memory
  // is already allocated. Until a response is sent, the budget has less for new requests.
  void Set(ServerContext& context, uint64_t bytes) {
    if (bytes == bytes_) return;
    context.queued_bytes.fetch_add(bytes - bytes_, std::memory_order_relaxed);
    context_ = &context;
    bytes_ = bytes;
  }

 private:
  ServerContext* context_ = nullptr;
  uint64_t bytes_ = 0;
};

// Returns a limit on the unsent response bytes of a connection. At the limit, the server starts no more
// requests of this connection. The limit is `most`, or less if the budget is small, so that a few clients
// that do not read cannot use up the budget.
inline uint64_t UnsentLimit(const ServerContext& context, uint64_t most) {
  constexpr uint64_t kConnections = 32, kLeast = uint64_t{1} << 20;
  return std::min(most, std::max(kLeast, context.limits.queued_bytes / kConnections));
}

// Returns the error for a request of `bytes` bytes that exceeds the budget.
inline Status TooManyQueuedBytes(const ServerContext& context, uint64_t bytes) {
  return ResourceExhausted("requests of ", context.queued_bytes.load(std::memory_order_relaxed) + bytes,
                           " bytes would be queued; the limit is ", context.limits.queued_bytes, " bytes");
}

}  // namespace tern::server
