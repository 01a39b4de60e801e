#include "server/grpc/message_reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "server/grpc/message_compression.h"

namespace tern::server {
namespace {

// A message of at most kSmallBytes is allocated together with its reference count. A message of more than
// kFirstBytes first gets memory for kFirstBytes. It gets all its memory when these bytes have arrived, so
// that a client cannot make the server allocate much by only announcing a long message.
constexpr size_t kSmallBytes = size_t{64} << 10, kFirstBytes = size_t{512} << 10;
constexpr uint64_t kOverhead = 1024;  // what the server holds for a call besides its message

GrpcStatus NoMemory(uint64_t bytes) {
  return {GrpcCode::kResourceExhausted,
          StrCat("the limit on the bytes of all queued requests does not allow ", bytes,
                 " more; try again later"),
          100};
}

}  // namespace

MessageReader::~MessageReader() { Free(); }

void MessageReader::Free() {
  if (!small_) std::free(data_);
  small_.reset();
  data_ = nullptr;
  capacity_ = 0;
}

GrpcStatus MessageReader::Start(const MessageLimits& limits, ServerContext& context) {
  length_ = size_t{prefix_[1]} << 24 | size_t{prefix_[2]} << 16 | size_t{prefix_[3]} << 8 | prefix_[4];
  filled_ = 0;
  if (prefix_[0] > 1)
    return {GrpcCode::kInternal, StrCat("a message has the unknown flags ", int{prefix_[0]}), 0};
  if (length_ > limits.message)
    return {GrpcCode::kResourceExhausted,
            StrCat("a message of ", length_, " bytes exceeds the limit of ", limits.message, " bytes"), 0};
  // Bytes are taken from the budget as they arrive, so that announcing them takes nothing from others.
  if (context.queued_bytes.load(std::memory_order_relaxed) + length_ > context.limits.queued_bytes ||
      !reservation_.Add(context, kOverhead))
    return NoMemory(length_);
  return Grow();
}

GrpcStatus MessageReader::Grow() {
  const size_t target = capacity_ ? length_ : std::min(length_, kFirstBytes);
  if (length_ <= kSmallBytes) {
    small_ = std::make_shared_for_overwrite<std::byte[]>(std::max<size_t>(length_, 1));
    data_ = small_.get();
  } else {
    void* larger = std::realloc(data_, target);
    if (!larger) return NoMemory(target);
    data_ = static_cast<std::byte*>(larger);
  }
  capacity_ = target;
  return {};
}

size_t MessageReader::Feed(const char* data, size_t size, const MessageLimits& limits, ServerContext& context,
                           GrpcStatus& status) {
  size_t used = 0;
  if (prefix_size_ < sizeof prefix_) {
    used = std::min(size, sizeof prefix_ - prefix_size_);
    std::memcpy(prefix_ + prefix_size_, data, used);
    prefix_size_ += used;
    if (prefix_size_ < sizeof prefix_) return used;
    status = Start(limits, context);
  }
  while (status.ok() && used < size && filled_ < length_) {
    if (filled_ == capacity_) status = Grow();
    if (!status.ok()) break;
    const size_t part = std::min(size - used, capacity_ - filled_);
    if (!reservation_.Add(context, part)) {
      status = NoMemory(part);
      break;
    }
    std::memcpy(data_ + filled_, data + used, part);
    filled_ += part;
    used += part;
  }
  return used;
}

Buffer MessageReader::Release() {
  std::shared_ptr<void> owner =
      small_ ? std::shared_ptr<void>(std::move(small_)) : std::shared_ptr<void>(data_, std::free);
  void* data = std::exchange(data_, nullptr);
  small_.reset();
  capacity_ = 0;
  prefix_size_ = 0;
  return Buffer::Borrow(data, length_, std::move(owner));
}

InMessage MessageReader::Take(Compression encoding, const MessageLimits& limits, ServerContext& context,
                              GrpcStatus& status) {
  const bool compressed = prefix_[0] == 1;
  InMessage message{Release(), std::exchange(reservation_, {})};
  if (!compressed) return message;
  if (encoding == Compression::kIdentity) {
    status = {GrpcCode::kInternal, "a message is compressed, but the request has no grpc-encoding", 0};
    return message;
  }
  auto plain = Decompress(message.bytes, encoding, limits.decompressed);
  const uint64_t size = plain.ok() ? plain->size() : 0;
  if (!plain.ok())
    status = GrpcStatus::Of(plain.status());
  else if (!message.reservation.Add(context, size))
    status = NoMemory(size);
  else
    message.bytes = std::move(*plain);
  return message;
}

}  // namespace tern::server
