#include "base/cpu_info.h"

#include <unistd.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/cores.h"
#include "base/strings.h"

namespace tern {
namespace {

std::string ModelName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (StartsWith(line, "model name") || StartsWith(line, "Model")) {
      const size_t at = line.find(": ");
      if (at != std::string::npos) return line.substr(at + 2);
    }
  return {};
}

#if defined(__x86_64__)
std::vector<std::string> Features() {
  std::vector<std::string> out;
#define TERN_FEATURE(name) \
  if (__builtin_cpu_supports(name)) out.push_back(name)
  TERN_FEATURE("sse4.2");
  TERN_FEATURE("avx");
  TERN_FEATURE("avx2");
  TERN_FEATURE("fma");
  TERN_FEATURE("avx512f");
  TERN_FEATURE("avx512bw");
  TERN_FEATURE("avx512vl");
  TERN_FEATURE("avx512dq");
  TERN_FEATURE("avx512vnni");
  TERN_FEATURE("avx512bf16");
#undef TERN_FEATURE
  return out;
}
#elif defined(__aarch64__)
std::vector<std::string> Features() {
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  std::vector<std::string> out{"neon"};
  if (first & HWCAP_ASIMDHP) out.push_back("fp16");
  if (first & HWCAP_ASIMDDP) out.push_back("dotprod");
  if (second & HWCAP2_I8MM) out.push_back("i8mm");
  if (second & HWCAP2_BF16) out.push_back("bf16");
  if (first & HWCAP_SVE) out.push_back("sve");
  return out;
}
#else
std::vector<std::string> Features() { return {}; }
#endif

}  // namespace

const CpuInfo& Cpu() {
  static const CpuInfo info{ModelName(), Features(), UsableCores(),
                            static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE)};
  return info;
}

size_t MachineMemory() {
  const int64_t bytes = Cpu().memory_bytes;
  return bytes > 0 ? static_cast<size_t>(bytes) : SIZE_MAX / 4;
}

namespace {

// Returns a field of /proc/self/status in bytes, or 0 if the field is missing. getrusage is not used, because
// its ru_maxrss also counts memory that the process used before exec.
int64_t StatusOf(const char* field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    long long kilobytes = 0;
    if (line.rfind(field, 0) == 0 &&
        std::sscanf(line.c_str() + std::strlen(field), ": %lld kB", &kilobytes) == 1)
      return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

int64_t PeakMemory() { return StatusOf("VmHWM"); }
int64_t ResidentMemory() { return StatusOf("VmRSS"); }

}  // namespace tern
