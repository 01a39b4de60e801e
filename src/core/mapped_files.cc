#include "core/mapped_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace tern {
namespace {

struct Files {
  std::mutex mutex;
  std::map<uintptr_t, size_t> sizes;  // keyed by address
  static Files& Get() {
    static auto* files = new Files();  // never destroyed, because buffers may outlive static objects
    return *files;
  }
};

}  // namespace

void AddMappedFile(const void* data, size_t bytes) {
  Files& files = Files::Get();
  std::lock_guard<std::mutex> lock(files.mutex);
  files.sizes[reinterpret_cast<uintptr_t>(data)] = bytes;
}

void RemoveMappedFile(const void* data) {
  Files& files = Files::Get();
  std::lock_guard<std::mutex> lock(files.mutex);
  files.sizes.erase(reinterpret_cast<uintptr_t>(data));
}

void DropMappedPages(const void* data, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), start = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (start + page - 1) / page * page, end = (start + bytes) / page * page;
  if (begin >= end) return;
  Files& files = Files::Get();
  std::lock_guard<std::mutex> lock(files.mutex);
  auto it = files.sizes.upper_bound(start);
  if (it == files.sizes.begin()) return;
  --it;
  if (start + bytes > it->first + it->second) return;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tern
