#include "server/shm/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>

namespace tern::server {
namespace {

// A shared memory object that a client creates.
class Object {
 public:
  explicit Object(size_t bytes, const std::string& suffix = "")
      : key_("/tern_shm_test_" + std::to_string(getpid()) + suffix), bytes_(bytes) {
    const int fd = shm_open(key_.c_str(), O_CREAT | O_RDWR, 0600);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(bytes)), 0);
    data_ = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  ~Object() {
    munmap(data_, bytes_);
    shm_unlink(key_.c_str());
  }
  const std::string& key() const { return key_; }
  char* data() const { return data_; }
  void Resize(size_t bytes) const {
    EXPECT_EQ(truncate(("/dev/shm" + key_).c_str(), static_cast<off_t>(bytes)), 0);
  }
  size_t Size() const { return std::filesystem::file_size("/dev/shm" + key_); }

 private:
  std::string key_;
  size_t bytes_;
  char* data_;
};

TEST(SharedMemory, SharesBytesWithTheClient) {
  const Object object(10'000);
  const auto control = MakeSharedMemory();
  ASSERT_TRUE(control->Register("r", object.key(), 5000, 100).ok());
  std::strcpy(object.data() + 5010, "hello");
  auto range = control->Find("r", 10, 6);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ((*range)->size(), 6u);
  char text[6] = "";
  ASSERT_TRUE((*range)->Read(text).ok());
  EXPECT_STREQ(text, "hello");
  ASSERT_TRUE((*range)->Write("world", 5).ok());
  EXPECT_STREQ(object.data() + 5010, "world");
  const auto regions = control->List("r");
  ASSERT_EQ(regions->size(), 1u);
  EXPECT_EQ((*regions)[0].offset, 5000u);
  EXPECT_EQ((*regions)[0].bytes, 100u);
  EXPECT_EQ((*regions)[0].key, object.key());
}

TEST(SharedMemory, LimitsTheNumberOfRegions) {
  const Object object(4096);
  const auto control = MakeSharedMemory();
  for (int i = 0; i < 4096; ++i)
    ASSERT_TRUE(control->Register(std::to_string(i), object.key(), 0, 4096).ok()) << i;
  EXPECT_EQ(control->Register("more", object.key(), 0, 4096).code(), Code::kResourceExhausted);
  ASSERT_TRUE(control->Unregister("7").ok());
  EXPECT_TRUE(control->Register("more", object.key(), 0, 4096).ok());
  EXPECT_FALSE(control->Register(std::string(1025, 'x'), object.key(), 0, 4096).ok());
}

// Connections need descriptors, too.
TEST(SharedMemory, LimitsTheNumberOfObjects) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit lower{400, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  std::vector<std::unique_ptr<Object>> objects;
  for (int i = 0; i < 101; ++i) objects.push_back(std::make_unique<Object>(4096, "_" + std::to_string(i)));
  const auto control = MakeSharedMemory();
  for (size_t i = 0; i < 100; ++i)
    EXPECT_TRUE(control->Register(std::to_string(i), objects[i]->key(), 0, 4096).ok()) << i;
  const Status more = control->Register("more", objects[100]->key(), 0, 4096);
  EXPECT_EQ(more.code(), Code::kResourceExhausted);
  EXPECT_NE(more.message().find("100 shared memory objects are open already"), std::string::npos)
      << more.message();
  EXPECT_TRUE(control->Register("again", objects[7]->key(), 0, 64).ok()) << "a region of an open object";
  {
    const auto range = control->Find("8", 0, 64);
    ASSERT_TRUE(control->Unregister("8").ok());
    EXPECT_FALSE(control->Register("more", objects[100]->key(), 0, 4096).ok()) << "a request uses the object";
  }
  EXPECT_TRUE(control->Register("more", objects[100]->key(), 0, 4096).ok());
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(SharedMemory, KeepsTheMemoryWhileARangeIsHeld) {
  const Object object(4096);
  const auto control = MakeSharedMemory();
  ASSERT_TRUE(control->Register("r", object.key(), 0, 4096).ok());
  auto range = control->Find("r", 0, 4096);
  ASSERT_TRUE(range.ok());
  ASSERT_TRUE(control->Unregister("r").ok());
  EXPECT_EQ(control->Find("r", 0, 1).status().message(), "Unable to find shared memory region: 'r'");
  const std::string sevens(4096, 7);
  ASSERT_TRUE((*range)->Write(sevens.data(), sevens.size()).ok());
  EXPECT_EQ(object.data()[4095], 7);
}

TEST(SharedMemory, AnObjectThatShrinksIsAnError) {
  const Object object(10'000);
  const auto control = MakeSharedMemory();
  ASSERT_TRUE(control->Register("r", object.key(), 0, 10'000).ok());
  auto range = control->Find("r", 8, 9'000);
  ASSERT_TRUE(range.ok());
  std::string bytes(9'000, 'x');
  for (const size_t size : {size_t{5'000}, size_t{8}, size_t{0}}) {
    object.Resize(size);
    for (const Status& status : {(*range)->Read(bytes.data()), (*range)->Write(bytes.data(), 9'000)}) {
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << size;
      EXPECT_NE(status.message().find("'r' can no longer be used"), std::string::npos) << status.message();
    }
    EXPECT_EQ(object.Size(), size) << "a write must not make the object larger again";
  }
  object.Resize(10'000);
  EXPECT_TRUE((*range)->Read(bytes.data()).ok());
  EXPECT_TRUE((*range)->Write(bytes.data(), 9'000).ok());
}

TEST(SharedMemory, RegionsOfOneObjectShareADescriptor) {
  const Object object(4096);
  const auto control = MakeSharedMemory();
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(control->Register(std::to_string(i), object.key(), 0, 4096).ok());
  EXPECT_EQ(descriptors(), before + 1);
  // Another object of the same name is another object.
  shm_unlink(object.key().c_str());
  const Object other(4096);
  ASSERT_TRUE(control->Register("other", other.key(), 0, 4096).ok());
  EXPECT_EQ(descriptors(), before + 2);
  ASSERT_TRUE(control->Unregister("").ok());
  EXPECT_EQ(descriptors(), before);
}

TEST(SharedMemory, RefusesWhatIsOutOfBounds) {
  const Object object(64);
  const auto control = MakeSharedMemory();
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  for (const auto& [offset, bytes] : {std::pair<uint64_t, uint64_t>{0, 65},
                                      {64, 1},
                                      {1, 64},
                                      {kMax, 1},
                                      {1, kMax},
                                      {kMax, kMax},
                                      {0, kMax},
                                      {uint64_t{1} << 63, uint64_t{1} << 63}}) {
    const Status status = control->Register("r", object.key(), offset, bytes);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << offset << " " << bytes;
    EXPECT_NE(status.message().find("failed to register shared memory region 'r': invalid args"),
              std::string::npos);
  }
  EXPECT_FALSE(control->Register("r", object.key(), 0, 0).ok());
  ASSERT_TRUE(control->Register("r", object.key(), 0, 64).ok());
  EXPECT_TRUE(control->Find("r", 0, 64).ok());
  EXPECT_TRUE(control->Find("r", 63, 1).ok());
  EXPECT_EQ(control->Find("r", 64, 0).status().message(), "Invalid offset for shared memory region: 'r'");
  EXPECT_EQ(control->Find("r", kMax, 2).status().message(), "Invalid offset for shared memory region: 'r'");
  for (const auto& [offset, bytes] : {std::pair<uint64_t, uint64_t>{0, 65}, {63, 2}})
    EXPECT_EQ(control->Find("r", offset, bytes).status().message(),
              "Invalid offset + byte size for shared memory region: 'r'");
  EXPECT_NE(control->Find("r", 1, kMax).status().message().find("Integer overflow detected"),
            std::string::npos);
}

TEST(SharedMemory, ChecksNamesAndKeys) {
  const Object object(64);
  const auto control = MakeSharedMemory();
  ASSERT_TRUE(control->Register("r", object.key(), 0, 64).ok());
  const Status twice = control->Register("r", object.key(), 0, 64);
  EXPECT_EQ(twice.code(), Code::kAlreadyExists);
  EXPECT_EQ(twice.message(), "shared memory region 'r' already in manager");
  for (const std::string& key :
       {std::string(""), std::string("/"), std::string("///"), std::string("name"), std::string("/a/b"),
        std::string("/../x"), std::string("/.."), std::string("/a\0b", 4), std::string(300, 'a')}) {
    const Status status = control->Register("x", key, 0, 1);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << key;
    EXPECT_NE(status.message().find("cannot register shared memory region 'x' - invalid shm key '"),
              std::string::npos);
  }
  EXPECT_NE(
      control->Register("x", "///triton_python_backend_shm_region_1", 0, 1).message().find("reserved prefix"),
      std::string::npos);
  EXPECT_EQ(control->Register("x", "/tern_no_such_object", 0, 1).message(),
            "Unable to open shared memory region: '/tern_no_such_object'");
  EXPECT_EQ(control->List("x").status().message(), "Unable to find system shared memory region: 'x'");
  EXPECT_TRUE(control->Unregister("x").ok());
  ASSERT_TRUE(control->Register("s", object.key(), 0, 64).ok());
  EXPECT_EQ(control->List("")->size(), 2u);
  EXPECT_TRUE(control->Unregister("").ok());
  EXPECT_EQ(control->List("")->size(), 0u);
}

}  // namespace
}  // namespace tern::server
