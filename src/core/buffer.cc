#include "core/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/mapped_files.h"

namespace tern {

Buffer Buffer::Allocate(size_t bytes) {
  constexpr size_t kAlign = 64, kMinMapBytes = size_t{128} << 10, kMinHugePageBytes = size_t{1} << 20;
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  // Large blocks are mapped directly instead of allocated with malloc. The system zeroes their pages, and the
  // memory returns to the system when a block is freed. malloc would keep the memory of freed weights for
  // reuse by this process.
  void* data = nullptr;
  if (rounded >= kMinMapBytes) {
    data = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    // Huge pages avoid TLB misses, which cost a third to half of the memory bandwidth when a kernel streams
    // weights. A block may be smaller than a huge page, because adjacent blocks can share one.
    if (rounded >= kMinHugePageBytes) madvise(data, rounded, MADV_HUGEPAGE);
    return Borrow(data, bytes, std::shared_ptr<void>(data, [rounded](void* p) { munmap(p, rounded); }));
  }
  data = std::aligned_alloc(kAlign, rounded ? rounded : kAlign);
  if (!data) throw std::bad_alloc();
  std::memset(data, 0, rounded);
  return Borrow(data, bytes, std::shared_ptr<void>(data, std::free));
}

Buffer Buffer::AllocateStrings(size_t n) {
  auto strings = std::make_shared<std::string[]>(n ? n : 1);
  return Borrow(strings.get(), n * sizeof(std::string), strings);
}

Buffer Buffer::Borrow(void* data, size_t bytes, std::shared_ptr<const void> owner, MemorySpace* space) {
  Buffer b;
  b.data_ = static_cast<std::byte*>(data);
  b.size_ = bytes;
  b.owner_ = std::move(owner);
  b.space_ = space;
  return b;
}

Result<Buffer> Buffer::MapFile(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const Code code = errno == ENOENT || errno == ENOTDIR ? Code::kNotFound : Code::kIo;
    return Status(code, StrCat("cannot open '", path, "': ", std::strerror(errno)));
  }
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return IoError("cannot read '", path, "': not a regular file");
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) {
    close(fd);
    return Allocate(0);
  }
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  const int error = errno;
  close(fd);
  if (data == MAP_FAILED)
    return IoError("cannot map '", path, "' (", size, " bytes): ", std::strerror(error));
  AddMappedFile(data, size);
  return Borrow(data, size, std::shared_ptr<void>(data, [size](void* p) {
                  RemoveMappedFile(p);
                  munmap(p, size);
                }));
}

Buffer Buffer::Slice(size_t offset, size_t bytes) const {
  TERN_CHECK(offset <= size_ && bytes <= size_ - offset, "slice beyond the buffer");
  Buffer b = *this;
  b.data_ += offset;
  b.size_ = bytes;
  return b;
}

}  // namespace tern
