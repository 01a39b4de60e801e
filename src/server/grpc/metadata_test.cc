#include "server/grpc/metadata.h"

#include <gtest/gtest.h>

#include "server/grpc/flood_guard.h"
#include "server/grpc/grpc_status.h"
#include "server/grpc/proto_wire.h"

namespace tern::server {
namespace {

using std::chrono::nanoseconds;

TEST(GrpcMetadata, Timeouts) {
  EXPECT_EQ(ParseTimeout("100m"), std::chrono::milliseconds(100));
  EXPECT_EQ(ParseTimeout("7n"), nanoseconds(7));
  EXPECT_EQ(ParseTimeout("7u"), nanoseconds(7000));
  EXPECT_EQ(ParseTimeout("2S"), std::chrono::seconds(2));
  EXPECT_EQ(ParseTimeout("1H"), std::chrono::hours(1));
  EXPECT_EQ(ParseTimeout("99999999H"), std::chrono::hours(24 * 365));  // clamped
  for (const char* bad : {"", "m", "5", "5x", "-5m", "123456789m", " 5m", "5 m"})
    EXPECT_FALSE(ParseTimeout(bad)) << bad;
}

TEST(GrpcMetadata, ContentTypes) {
  auto accepts = [](const char* type) {
    Metadata metadata;
    ReadHeader("content-type", type, metadata);
    return metadata.grpc_content;
  };
  EXPECT_TRUE(accepts("application/grpc"));
  EXPECT_TRUE(accepts("application/grpc+proto"));
  EXPECT_TRUE(accepts("application/grpc; charset=utf-8"));
  EXPECT_FALSE(accepts("application/grpc+json"));
  EXPECT_FALSE(accepts("application/grpc-web"));
  EXPECT_FALSE(accepts("application/json"));
  EXPECT_FALSE(accepts(""));
}

TEST(GrpcMetadata, Traceparent) {
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(ParseTraceparent(good).parent_id, "b7ad6b7169203331");
  EXPECT_TRUE(ParseTraceparent(good).sampled);
  EXPECT_FALSE(ParseTraceparent(good.substr(0, 53) + "00").sampled);
  EXPECT_EQ(ParseTraceparent("cc" + good.substr(2) + "-more").parent_id, "b7ad6b7169203331");
  for (const std::string& bad :
       {good.substr(1), good + "-x", "ff" + good.substr(2),
        good.substr(0, 3) + std::string(32, '0') + good.substr(35), std::string(55, '-'), std::string()})
    EXPECT_EQ(ParseTraceparent(bad).trace_id, "") << bad;
}

TEST(GrpcMetadata, AcceptEncoding) {
  Metadata metadata;
  ReadHeader("grpc-accept-encoding", "identity, gzip ,deflate", metadata);
  EXPECT_TRUE(metadata.accepts_gzip);
  ReadHeader("grpc-accept-encoding", "xgzip,,", metadata);
  EXPECT_FALSE(metadata.accepts_gzip);
}

TEST(GrpcStatus, Mapping) {
  const std::pair<Code, int> kCodes[] = {
      {Code::kInvalidArgument, 3}, {Code::kInvalidModel, 3}, {Code::kUnsupported, 12},
      {Code::kNotFound, 5},        {Code::kIo, 13},          {Code::kResourceExhausted, 8},
      {Code::kInternal, 13},       {Code::kCancelled, 1},    {Code::kUnavailable, 14},
      {Code::kAlreadyExists, 6}};
  for (const auto& [code, number] : kCodes)
    EXPECT_EQ(static_cast<int>(GrpcStatus::Of(Status(code, "x")).code), number);
  EXPECT_TRUE(GrpcStatus::Of(Status()).ok());
}

TEST(GrpcStatus, PercentEncoding) {
  EXPECT_EQ(PercentEncode("a b%\n\xc3\xa9~"), "a b%25%0A%C3%A9~");
  EXPECT_EQ(PercentEncode(""), "");
}

TEST(GrpcFloodGuard, Bucket) {
  TokenBucket bucket(3, 10);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.Take(start));
  EXPECT_FALSE(bucket.Take(start));
  EXPECT_TRUE(bucket.Take(start + std::chrono::milliseconds(250)));
  bucket.Refill();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.Take(start + std::chrono::milliseconds(250)));
}

TEST(GrpcProtoWire, Varints) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{1} << 35, UINT64_MAX}) {
    std::string text;
    AppendVarint(text, value);
    EXPECT_EQ(text.size(), VarintSize(value));
    const char* at = text.data();
    uint64_t read = 1;
    EXPECT_TRUE(ReadVarint(at, text.data() + text.size(), read));
    EXPECT_EQ(read, value);
    at = text.data();
    EXPECT_FALSE(ReadVarint(at, text.data() + text.size() - 1, read));
  }
  const std::string endless(11, '\xff');
  const char* at = endless.data();
  uint64_t value = 0;
  EXPECT_FALSE(ReadVarint(at, endless.data() + endless.size(), value));
}

TEST(GrpcProtoWire, DamagedFields) {
  auto reads = [](std::string_view bytes) {
    ProtoReader reader(bytes);
    while (reader.Next()) {
    }
    return reader.ok();
  };
  EXPECT_TRUE(reads(""));
  EXPECT_TRUE(reads({"\x0a\x01x\x11\0\0\0\0\0\0\0\0\x1d\0\0\0\0", 17}));
  // A length beyond the end of the message.
  EXPECT_FALSE(reads("\x0a\x05x"));
  EXPECT_FALSE(reads("\x0b"));                                          // a group
  EXPECT_FALSE(reads({"\x02\0", 2}));                                   // field 0
  EXPECT_FALSE(reads({"\x11\0\0", 3}));                                 // a truncated number
  EXPECT_FALSE(reads("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));  // a length of 2^64 - 1
}

TEST(GrpcProtoWire, Utf8) {
  for (const char* good : {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_TRUE(IsUtf8(good)) << good;
  for (const char* bad :
       {"\xc3", "\xff", "\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80"})
    EXPECT_FALSE(IsUtf8(bad)) << bad;
}

}  // namespace
}  // namespace tern::server
