#include "server/isolation/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tern::server {
namespace {

constexpr uint64_t kPage = 64 << 10;  // a multiple of the page size of every machine
constexpr uint64_t kKeep = uint64_t{32} << 20;
constexpr uint64_t kLargest = uint64_t{1} << 46;

uint64_t RoundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

Status NoMemory(uint64_t bytes) {
  return ResourceExhausted("no shared memory of ", bytes, " bytes: ", std::strerror(errno));
}

Result<uint64_t> SizeOf(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return IoError("cannot read the size of shared memory: ", std::strerror(errno));
  return static_cast<uint64_t>(info.st_size);
}

}  // namespace

Mapping::~Mapping() {
  if (data_) munmap(data_, size_);
}

Result<Mapping> Mapping::Map(int fd, uint64_t offset, uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return NoMemory(bytes);
  Mapping out;
  out.data_ = static_cast<std::byte*>(memory);
  out.size_ = bytes;
  return out;
}

Result<UniqueFd> MakeArena() {
  UniqueFd fd(memfd_create("tern-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(kPage)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return NoMemory(kPage);
  return fd;
}

bool IsSealed(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK);
}

Result<Arena> Arena::Create() {
  Arena out;
  TERN_ASSIGN(out.fd_, MakeArena());
  TERN_ASSIGN(out.mapping_, Mapping::Map(out.fd_.get(), 0, kPage));
  return out;
}

Status Arena::Grow(uint64_t bytes) {
  if (bytes <= size()) return {};
  if (bytes > kLargest) return ResourceExhausted("tensors of ", bytes, " bytes are too large");
  // The other side may have made the object larger, and it must not become smaller.
  TERN_ASSIGN(const uint64_t present, SizeOf(fd_.get()));
  const uint64_t wanted = std::max(present, RoundUp(bytes + bytes / 4, kPage));
  if (wanted > present && ftruncate(fd_.get(), static_cast<off_t>(wanted)) != 0) return NoMemory(wanted);
  TERN_ASSIGN(mapping_, Mapping::Map(fd_.get(), 0, wanted));
  return {};
}

Status Arena::MapAtLeast(uint64_t bytes) {
  if (bytes <= size()) return {};
  TERN_ASSIGN(const uint64_t present, SizeOf(fd_.get()));
  if (bytes > present)
    return Status(Code::kInternal,
                  StrCat("the model's process names byte ", bytes, " of shared memory that has ", present));
  TERN_ASSIGN(mapping_, Mapping::Map(fd_.get(), 0, bytes));
  return {};
}

void Arena::Trim() {
  if (size() <= kKeep) return;
  fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(kKeep),
            static_cast<off_t>(size() - kKeep));
}

Status ArenaMemory::Reset() {
  if (segments_.size() == 1) {
    segments_[0].used = 0;
    return {};
  }
  segments_.clear();
  TERN_ASSIGN(const uint64_t present, SizeOf(fd_.get()));
  TERN_ASSIGN(Mapping all, Mapping::Map(fd_.get(), 0, present));
  segments_.push_back({0, std::move(all), 0});
  return {};
}

Buffer ArenaMemory::Allocate(size_t bytes) {
  if (bytes > kLargest || segments_.empty()) return {};
  const uint64_t room = RoundUp(std::max<size_t>(bytes, 1), 64);
  if (segments_.back().mapping.size() - segments_.back().used < room) {
    const uint64_t end = segments_.back().offset + segments_.back().mapping.size();
    const uint64_t more = RoundUp(std::max(room, end / 2), kPage);
    if (ftruncate(fd_.get(), static_cast<off_t>(end + more)) != 0) return {};
    auto mapping = Mapping::Map(fd_.get(), end, more);
    if (!mapping.ok()) return {};
    segments_.push_back({end, std::move(*mapping), 0});
  }
  Segment& segment = segments_.back();
  std::byte* data = segment.mapping.data() + segment.used;
  segment.used += room;
  return Buffer::Borrow(data, bytes, nullptr);
}

int64_t ArenaMemory::OffsetOf(const std::byte* data) const {
  for (const Segment& segment : segments_) {
    const std::byte* begin = segment.mapping.data();
    if (data >= begin && data < begin + segment.mapping.size())
      return static_cast<int64_t>(segment.offset + static_cast<uint64_t>(data - begin));
  }
  return -1;
}

}  // namespace tern::server
