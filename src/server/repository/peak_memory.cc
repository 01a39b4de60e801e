#include "server/repository/peak_memory.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kInterval{2};

}  // namespace

uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return 0;
  unsigned long long all = 0, resident = 0;
  const bool read = std::fscanf(file, "%llu %llu", &all, &resident) == 2;
  std::fclose(file);
  return read ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

PeakMemory::PeakMemory() {
  memory_.before = memory_.peak = ResidentBytes();
  thread_ = std::thread([this] { Run(); });
}

void PeakMemory::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    memory_.peak = std::max(memory_.peak, ResidentBytes());
    changed_.wait_for(lock, kInterval, [this] { return stop_; });
  }
  memory_.peak = std::max(memory_.peak, ResidentBytes());
}

ChangeMemory PeakMemory::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  return memory_;
}

}  // namespace tern::server
