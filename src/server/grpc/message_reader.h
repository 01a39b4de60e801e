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
};

struct MessageLimits {
  uint64_t message = INT32_MAX;       // bytes of a message as it is sent
  uint64_t decompressed = INT32_MAX;  // bytes of a compressed message after decompression
};

class MessageReader {
 public:
  MessageReader() = default;
  ~MessageReader();
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;

  // Consumes bytes up to the end of the current message, and returns their number. Sets `status` if the
  // stream must end with an error.
  size_t Feed(const char* data, size_t size, const MessageLimits& limits, ServerContext& context,
              GrpcStatus& status);
  bool complete() const { return prefix_size_ == sizeof prefix_ && filled_ == length_; }
  // True between messages.
  bool idle() const { return prefix_size_ == 0; }
  size_t filled() const { return filled_; }  // bytes of the current message
  // The complete message, decompressed.
  InMessage Take(Compression encoding, const MessageLimits& limits, ServerContext& context,
                 GrpcStatus& status);

 private:
  GrpcStatus Start(const MessageLimits& limits, ServerContext& context);
  GrpcStatus Grow();
  void Free();
  Buffer Release();

  uint8_t prefix_[5] = {};
  size_t prefix_size_ = 0;
  size_t length_ = 0, filled_ = 0, capacity_ = 0;
  // Owns data_ of a short message; data_ of a long message is from malloc.
  std::shared_ptr<std::byte[]> small_;
  std::byte* data_ = nullptr;
  ByteReservation reservation_;
};

}  // namespace tern::server
