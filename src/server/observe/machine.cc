#include "server/observe/machine.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace tern::server {
namespace {

std::string FileText(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Removes the next number from the text and returns it, or returns 0 if there is none.
uint64_t NextNumber(std::string_view& text) {
  const size_t at = text.find_first_of("0123456789");
  if (at == std::string_view::npos) return text = {}, 0;
  uint64_t value = 0;
  const auto end = std::from_chars(text.data() + at, text.data() + text.size(), value).ptr;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

uint64_t Field(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + name.size());
  text = text.substr(0, text.find('\n'));
  return NextNumber(text);
}

uint64_t EntriesOf(const char* folder) {
  DIR* dir = opendir(folder);
  if (!dir) return 0;
  uint64_t n = 0;
  while (readdir(dir)) ++n;
  closedir(dir);
  return n >= 3 ? n - 3 : 0;  // without ".", ".." and the descriptor of the folder itself
}

}  // namespace

CpuTicks ParseCpuTicks(std::string_view stat) {
  CpuTicks t;
  if (stat.substr(0, 4) != "cpu ") return t;
  std::string_view line = stat.substr(0, stat.find('\n'));
  uint64_t idle = 0;
  for (int i = 0; i < 8; ++i) {  // user, nice, system, idle, iowait, irq, softirq, steal
    const uint64_t ticks = NextNumber(line);
    t.total += ticks;
    if (i == 3 || i == 4) idle += ticks;
  }
  t.busy = t.total - idle;
  return t;
}

MemoryBytes ParseMemory(std::string_view meminfo) {
  return {Field(meminfo, "MemTotal:") * 1024, Field(meminfo, "MemAvailable:") * 1024};
}

CpuTicks MachineTicks() { return ParseCpuTicks(FileText("/proc/stat")); }
MemoryBytes MachineMemory() { return ParseMemory(FileText("/proc/meminfo")); }

double Utilization(const CpuTicks& before, const CpuTicks& now) {
  if (now.total <= before.total || now.busy < before.busy) return 0;
  return std::min(
      1.0, static_cast<double>(now.busy - before.busy) / static_cast<double>(now.total - before.total));
}

ProcessFacts ThisProcess() {
  ProcessFacts facts;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  facts.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  const std::string status = FileText("/proc/self/status");
  facts.resident_bytes = Field(status, "VmRSS:") * 1024;
  facts.virtual_bytes = Field(status, "VmSize:") * 1024;
  facts.threads = static_cast<int>(Field(status, "Threads:"));
  facts.open_files = EntriesOf("/proc/self/fd");
  return facts;
}

uint64_t ResidentBytes(int64_t pid) {
  if (pid <= 0) return 0;
  const std::string text = FileText(("/proc/" + std::to_string(pid) + "/statm").c_str());
  std::string_view fields = text;
  NextNumber(fields);  // the size of the address space
  return NextNumber(fields) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tern::server
