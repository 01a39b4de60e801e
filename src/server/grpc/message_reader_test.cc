#include "server/grpc/message_reader.h"

#include <gtest/gtest.h>

#include <cstring>

#include "server/grpc/message_compression.h"

namespace tern::server {
namespace {

std::string Prefix(char flag, size_t size) {
  return {flag, static_cast<char>(size >> 24), static_cast<char>(size >> 16), static_cast<char>(size >> 8),
          static_cast<char>(size)};
}

std::string Text(const Buffer& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Feeds bytes in pieces of `step` bytes and returns the messages.
std::vector<std::string> ReadAll(const std::string& bytes, size_t step, ServerContext& context,
                                 GrpcStatus& status) {
  MessageReader reader;
  std::vector<std::string> messages;
  for (size_t at = 0; at < bytes.size() && status.ok();) {
    at += reader.Feed(bytes.data() + at, std::min(step, bytes.size() - at), {}, context, status);
    if (!status.ok() || !reader.complete()) continue;
    InMessage message = reader.Take();
    if (message.compressed) status = Inflate(Compression::kIdentity, {}, context, message);
    messages.push_back(Text(message.bytes));
  }
  EXPECT_TRUE(reader.idle() || !status.ok());
  return messages;
}

TEST(GrpcMessageReader, AnyStep) {
  ServerContext context;
  const std::vector<std::string> messages = {"", "a", std::string(70'000, 'b'), std::string(3'000'000, 'c'),
                                             "d"};
  std::string bytes;
  for (const std::string& message : messages) bytes += Prefix(0, message.size()) + message;
  for (const size_t step : {size_t{1}, size_t{7}, size_t{16384}, bytes.size()}) {
    GrpcStatus status;
    EXPECT_EQ(ReadAll(bytes, step, context, status), messages) << step;
    EXPECT_TRUE(status.ok());
  }
  EXPECT_EQ(context.queued_bytes, 0u);
}

TEST(GrpcMessageReader, Refuses) {
  ServerContext context;
  context.limits.queued_bytes = 2000;
  GrpcStatus status;
  ReadAll(Prefix(2, 0), 5, context, status);
  EXPECT_EQ(status.code, GrpcCode::kInternal);
  status = {};
  ReadAll(Prefix(0, size_t{1} << 31), 5, context, status);
  EXPECT_EQ(status.code, GrpcCode::kResourceExhausted);
  status = {};
  ReadAll(Prefix(0, 2001), 5, context, status);
  EXPECT_EQ(status.code, GrpcCode::kResourceExhausted);
  EXPECT_GT(status.retry_ms, 0);
  status = {};
  ReadAll(Prefix(1, 1) + "x", 6, context, status);  // the flag says compressed, but there is no encoding
  EXPECT_EQ(status.code, GrpcCode::kInternal);
  EXPECT_EQ(context.queued_bytes, 0u);
}

TEST(GrpcMessageReader, CountsBytesWhenTheyArrive) {
  ServerContext context;
  GrpcStatus status;
  {
    MessageReader reader;
    const std::string prefix = Prefix(0, size_t{256} << 20), bytes(1000, 'x');
    reader.Feed(prefix.data(), prefix.size(), {}, context, status);
    const uint64_t announced = context.queued_bytes;
    EXPECT_GT(announced, 0u);  // the call itself
    EXPECT_LE(announced, 4096u);
    reader.Feed(bytes.data(), bytes.size(), {}, context, status);
    EXPECT_EQ(context.queued_bytes, announced + 1000);
    EXPECT_TRUE(status.ok());
    context.limits.queued_bytes = announced + 1500;
    reader.Feed(bytes.data(), bytes.size(), {}, context, status);
    EXPECT_EQ(status.code, GrpcCode::kResourceExhausted);
  }
  EXPECT_EQ(context.queued_bytes, 0u);
}

TEST(GrpcMessageReader, ReceivesInPlace) {
  ServerContext context;
  GrpcStatus status;
  MessageReader reader;
  EXPECT_EQ(reader.Room().size(), 0u) << "between messages";
  std::string message(3'000'000, 'x');
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<char>(i * 7 + i / 251);
  const std::string start = Prefix(0, message.size()) + message.substr(0, 1000);
  EXPECT_EQ(reader.Feed(start.data(), start.size(), {}, context, status), start.size());
  for (size_t at = 1000; at < message.size();) {
    const Buffer room = reader.Room();
    const size_t part = std::min<size_t>({room.size(), message.size() - at, 700'000});
    ASSERT_GT(part, 0u);
    std::memcpy(room.data(), message.data() + at, part);
    EXPECT_EQ(reader.Feed(reinterpret_cast<const char*>(room.data()), part, {}, context, status), part);
    at += part;
  }
  EXPECT_TRUE(status.ok());
  ASSERT_TRUE(reader.complete());
  EXPECT_EQ(reader.Room().size(), 0u);
  EXPECT_TRUE(Text(reader.Take().bytes) == message);
  EXPECT_EQ(context.queued_bytes, 0u);
}

TEST(GrpcCompression, RoundTripOfParts) {
  OutMessage message;
  std::string plain;
  for (int i = 0; i < 5000; ++i) plain += "line " + std::to_string(i % 100) + "\n";
  Buffer tensor = Buffer::Allocate(20'000);
  message.head += plain;
  message.Add(tensor);
  message.head += "end";
  message.Prepend(Prefix(0, message.size()));
  CompressMessage(message, 6);
  std::string all;
  for (size_t i = 0; i < message.part_count(); ++i) all += message.Part(i);
  ASSERT_EQ(all[0], 1);
  EXPECT_EQ(all.substr(0, 5), Prefix(1, all.size() - 5));
  Buffer zipped = Buffer::Borrow(all.data() + 5, all.size() - 5, nullptr);
  const auto back = Decompress(zipped, Compression::kGzip, 1 << 20);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(Text(*back), plain + std::string(20'000, '\0') + "end");
  const size_t size = back->size();
  EXPECT_TRUE(Decompress(zipped, Compression::kGzip, size).ok());
  EXPECT_EQ(Decompress(zipped, Compression::kGzip, size - 1).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(Decompress(zipped.Slice(0, zipped.size() - 1), Compression::kGzip, 1 << 20).status().code(),
            Code::kInvalidArgument);
  EXPECT_FALSE(Decompress(zipped, Compression::kDeflate, 1 << 20).ok());
  all += "x";
  EXPECT_FALSE(
      Decompress(Buffer::Borrow(all.data() + 5, all.size() - 5, nullptr), Compression::kGzip, 1 << 20).ok());
}

TEST(GrpcCompression, LeavesWhatDoesNotShrink) {
  OutMessage message;
  uint32_t seed = 1;
  for (int i = 0; i < 4000; ++i)
    message.head.push_back(static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24));
  message.Prepend(Prefix(0, message.size()));
  const std::string before = message.head;
  CompressMessage(message, 9);
  EXPECT_EQ(message.head, before);
}

}  // namespace
}  // namespace tern::server
