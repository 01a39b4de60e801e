// Splits the body of a gRPC request into messages. A message is one byte with the compressed flag, four bytes
// with the length, and the bytes.
#pragma once
#include "server/core/byte_budget.h"
#include "server/grpc/grpc_status.h"
#include "server/grpc/metadata.h"

namespace tern::server {

struct InMessage {
  Buffer bytes;
  ByteReservation reservation;
  bool compressed = false;
};

struct MessageLimits {
  uint64_t message = INT32_MAX;       // bytes of a message as it is sent
  uint64_t decompressed = INT32_MAX;  // bytes of a compressed message after decompression
};

class MessageReader {
 public:
  // Consumes bytes up to the end of the current message, and returns their number. Sets `status` if the
  // stream must end with an error. Bytes that are already at the start of Room are not copied.
  size_t Feed(const char* data, size_t size, const MessageLimits& limits, ServerContext& context,
              GrpcStatus& status);
  // Returns the memory for the next bytes of the current message, so that they can be received there. Empty
  // between messages, and if there is no memory. The caller passes the received bytes to Feed.
  Buffer Room();
  bool complete() const { return prefix_size_ == sizeof prefix_ && filled_ == length_; }
  // True between messages.
  bool idle() const { return prefix_size_ == 0; }
  size_t filled() const { return filled_; }  // bytes of the current message
  // Returns the complete message, which may be compressed.
  InMessage Take();

 private:
  GrpcStatus Start(const MessageLimits& limits, ServerContext& context);
  bool Grow();

  uint8_t prefix_[5] = {};
  size_t prefix_size_ = 0;
  size_t length_ = 0, filled_ = 0;
  Buffer memory_;  // at most length_ bytes
  ByteReservation reservation_;
};

// Decompresses a message. `encoding` is the grpc-encoding of its request. Takes long for long messages.
GrpcStatus Inflate(Compression encoding, const MessageLimits& limits, ServerContext& context,
                   InMessage& message);

}  // namespace tern::server
