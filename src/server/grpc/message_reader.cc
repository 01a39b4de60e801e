#include "server/grpc/message_reader.h"

#include <algorithm>
#include <cstring>

#include "server/core/buffer_pool.h"
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
  return Grow() ? GrpcStatus() : NoMemory(length_);
}

bool MessageReader::Grow() {
  Buffer larger;
  if (length_ <= kSmallBytes) {
    auto memory = std::make_shared_for_overwrite<std::byte[]>(std::max<size_t>(length_, 1));
    larger = Buffer::Borrow(memory.get(), length_, memory);
  } else {
    larger = BufferPool::Shared().Allocate(filled_ ? length_ : std::min(length_, kFirstBytes));
    if (!larger.defined()) return false;
  }
  if (filled_) std::memcpy(larger.data(), memory_.data(), filled_);
  memory_ = std::move(larger);
  return true;
}

Buffer MessageReader::Room() {
  if (prefix_size_ < sizeof prefix_ || filled_ == length_) return {};
  if (filled_ == memory_.size() && !Grow()) return {};
  return memory_.Slice(filled_, memory_.size() - filled_);
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
    if (filled_ == memory_.size() && !Grow()) {
      status = NoMemory(length_);
      break;
    }
    const size_t part = std::min(size - used, memory_.size() - filled_);
    if (!reservation_.Add(context, part)) {
      status = NoMemory(part);
      break;
    }
    std::byte* const target = memory_.data() + filled_;
    if (reinterpret_cast<const std::byte*>(data + used) != target) std::memmove(target, data + used, part);
    filled_ += part;
    used += part;
  }
  return used;
}

InMessage MessageReader::Take() {
  prefix_size_ = 0;
  return {std::exchange(memory_, {}), std::exchange(reservation_, {}), prefix_[0] == 1};
}

GrpcStatus Inflate(Compression encoding, const MessageLimits& limits, ServerContext& context,
                   InMessage& message) {
  if (encoding == Compression::kIdentity)
    return {GrpcCode::kInternal, "a message is compressed, but the request has no grpc-encoding", 0};
  auto plain = Decompress(message.bytes, encoding, limits.decompressed);
  if (!plain.ok()) return GrpcStatus::Of(plain.status());
  if (!message.reservation.Add(context, plain->size())) return NoMemory(plain->size());
  message.bytes = std::move(*plain);
  message.compressed = false;
  return {};
}

}  // namespace tern::server
