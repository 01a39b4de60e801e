#include "server/grpc/out_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace tern::server {
namespace {

std::string TakeBytes(OutBuffer& out, size_t bytes) {
  iovec parts[8];
  std::string text;
  while (bytes > 0 && !out.empty()) {
    const int count = out.Parts(parts, 8);
    size_t taken = 0;
    for (int i = 0; i < count && bytes > 0; ++i) {
      const size_t part = std::min(bytes, parts[i].iov_len);
      text.append(static_cast<const char*>(parts[i].iov_base), part);
      taken += part;
      bytes -= part;
    }
    out.Consume(taken);
  }
  return text;
}

TEST(GrpcOutBuffer, KeepsNoMemoryOfWhatIsWritten) {
  for (const bool references : {false, true}) {
    OutBuffer out;
    std::string expected, got;
    const Buffer tensor = Buffer::Allocate(50);
    std::memset(tensor.data(), 't', tensor.size());
    // The client is always behind: the buffer never gets empty.
    for (int i = 0; i < 20'000; ++i) {
      const std::string piece = "piece " + std::to_string(i);
      expected += piece;
      out.Append(piece.data(), piece.size());
      if (references) {
        expected.append(tensor.size(), 't');
        out.AppendReference(tensor.data(), tensor.size(), tensor);
      }
      if (i > 10) got += TakeBytes(out, expected.size() - got.size() - 60);
      ASSERT_FALSE(out.empty());
      ASSERT_LT(out.held(), size_t{400'000}) << i;
    }
    got += TakeBytes(out, SIZE_MAX);
    EXPECT_TRUE(got == expected) << references;
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(out.size(), 0u);
  }
}

}  // namespace
}  // namespace tern::server
