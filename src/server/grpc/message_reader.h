// Cuts the body of a gRPC request into messages: a flag, the length in four bytes, the bytes.
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
  uint64_t message = INT32_MAX;       // of a message as it is sent
  uint64_t decompressed = INT32_MAX;  // of a compressed message, after decompression
};

class MessageReader {
 public:
  MessageReader() = default;
  ~MessageReader();
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;

  // Takes bytes up to the end of the current message. Returns how many; `status` is the error of the stream.
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
  std::shared_ptr<std::byte[]> small_;  // owns data_ of a short message; else data_ is from malloc
  std::byte* data_ = nullptr;
  ByteReservation reservation_;
};

}  // namespace tern::server
