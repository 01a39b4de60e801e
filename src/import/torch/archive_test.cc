#include "import/torch/archive.h"

#include <gtest/gtest.h>

#include "import/torch/testing.h"

namespace tern::torch {
namespace {

Result<Archive> Open(std::string bytes) {
  auto owner = std::make_shared<std::string>(std::move(bytes));
  return Archive::Open(Buffer::Borrow(owner->data(), owner->size(), owner), false);
}

TEST(Archive, ReadsCompressedEntries) {
  const std::string zip = ZipOf({{"a", std::string(1000, 'x')}, {"b", "two"}}, true);
  const auto archive = Open(zip);
  ASSERT_TRUE(archive.ok()) << archive.status().ToString();
  EXPECT_EQ(*archive->ReadText("a"), std::string(1000, 'x'));
  EXPECT_EQ(*archive->ReadText("b"), "two");
  EXPECT_FALSE(archive->Read("c").ok());
}

// Overwrites `bytes` bytes of a text at `at` by a little-endian number.
void Put(std::string& text, size_t at, size_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) text[at + i] = static_cast<char>(value >> (8 * i));
}

// Returns an archive with copies of the only entry of another archive.
std::string Copies(const std::string& once, size_t count) {
  const size_t directory = once.find("PK\x01\x02"), end = once.find("PK\x05\x06", directory);
  std::string locals, headers, last = once.substr(end);
  for (size_t i = 0; i < count; ++i) {
    std::string header = once.substr(directory, end - directory);
    Put(header, 42, locals.size(), 4);  // the offset of the entry
    headers += header;
    locals += once.substr(0, directory);
  }
  Put(last, 8, count, 2);  // entries on this disk, then in all
  Put(last, 10, count, 2);
  Put(last, 12, headers.size(), 4);
  Put(last, 16, locals.size(), 4);  // where the directory starts
  return locals + headers + last;
}

// 65 entries of 64 MiB each take 4 MB in the file.
TEST(Archive, BoundsAllCompressedEntriesTogether) {
  const std::string once = ZipOf({{"a", std::string(size_t{64} << 20, 'x')}}, true);
  const std::string few = Copies(once, 64), many = Copies(once, 65);
  EXPECT_TRUE(Open(few).ok()) << Open(few).status().ToString();
  const auto refused = Open(many);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("unpack to more than 4294967296 bytes"), std::string::npos)
      << refused.status().message();
}

}  // namespace
}  // namespace tern::torch
