#include "base/placement.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/cores.h"
#include "base/topology.h"

namespace tern {
namespace {

constexpr int kSameCpu = 16;      // weight of a user of the same CPU, relative to a user of a sibling
constexpr int kWatchStarts = 64;  // calls of Start between two calls of Switches
constexpr long kMaxSwitches = 2;  // in kWatchStarts starts; more mean that another process needs the CPU
constexpr long kFreeMs = 100;

long CoarseMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// Returns how often the system has taken the CPU away from the calling thread.
long Switches() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

// Sets the affinity mask of the calling thread to the given CPUs.
bool AllowCpus(const int* cpus, size_t count) {
  const int top = *std::max_element(cpus, cpus + count);
  std::vector<cpu_set_t> set(static_cast<size_t>(top) / CPU_SETSIZE + 1);
  const size_t bytes = set.size() * sizeof(cpu_set_t);
  for (size_t i = 0; i < count; ++i) CPU_SET_S(static_cast<size_t>(cpus[i]), bytes, set.data());
  return sched_setaffinity(0, bytes, set.data()) == 0;
}

}  // namespace

CpuUsers::CpuUsers(const std::vector<int>& cores) : cpus_(cores.size()) {
  for (size_t i = 0; i < cores.size(); ++i)
    for (size_t j = 0; j < cores.size(); ++j)
      if (i != j && cores[i] == cores[j]) cpus_[i].siblings.push_back(static_cast<int>(j));
}

int CpuUsers::Load(const Cpu& cpu, int own) const {
  int load = kSameCpu * (cpu.users.load(std::memory_order_relaxed) - own);
  for (const int i : cpu.siblings)
    load += cpus_[static_cast<size_t>(i)].users.load(std::memory_order_relaxed);
  return load;
}

int CpuUsers::Choose(int cpu) {
  Cpu& now = cpus_[static_cast<size_t>(cpu)];
  int least = Load(now, 1), best = cpu;
  // Starts at the next CPU. Two threads on different CPUs, which may belong to different processes, thus
  // choose different CPUs.
  for (int step = 1; step < count() && least > 0; ++step) {
    const int i = (cpu + step) % count();
    // The load of a sibling of `cpu` counts this thread, which leaves `cpu` if it moves. So this thread is
    // subtracted.
    const bool sibling = std::count(now.siblings.begin(), now.siblings.end(), i) > 0;
    const int load = Load(cpus_[static_cast<size_t>(i)], 0) - sibling;
    if (load < least) least = load, best = i;
  }
  if (best == cpu) return cpu;
  // If another thread has just taken the CPU, this thread stays and chooses again before the next loop.
  std::atomic<int>& users = cpus_[static_cast<size_t>(best)].users;
  int before = users.load(std::memory_order_relaxed);
  if (kSameCpu * before > least ||
      !users.compare_exchange_strong(before, before + 1, std::memory_order_relaxed))
    return cpu;
  Leave(cpu);
  return best;
}

Placement::Placement(const std::vector<int>& cpus, const std::vector<int>& cores)
    : cpus_(cpus),
      index_(static_cast<size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1, -1),
      users_(cores) {
  for (size_t i = 0; i < cpus.size(); ++i) index_[static_cast<size_t>(cpus[i])] = static_cast<int>(i);
}

Placement* Placement::Get() {
  static Placement* placement = []() -> Placement* {
    const char* pin = std::getenv("TERN_PIN");
    const bool off = pin && std::strcmp(pin, "0") == 0, on = pin && std::strcmp(pin, "1") == 0;
    if (off || UsableCores() <= 2) return nullptr;
    const FoundTopology& topology = TheTopology();
    const size_t count = topology.cpus.size();
    if (!(on || topology.hidden) || count <= 2 || static_cast<size_t>(UsableCores()) > count) return nullptr;
    std::vector<int> cpus, cores;
    for (const CpuOfCore& c : topology.cpus) cpus.push_back(c.cpu), cores.push_back(c.core);
    return new Placement(cpus, cores);  // never destroyed, because threads of the pool use it
  }();
  return placement;
}

int Placement::Here() const {
  const auto cpu = static_cast<size_t>(sched_getcpu());  // -1 becomes large
  return cpu < index_.size() ? index_[cpu] : -1;
}

int Placement::Follow(int counted) {
  const int here = Here();
  if (here == counted) return here;
  Leave(counted);
  if (here >= 0) users_.Enter(here);
  return here;
}

void Placement::Pin(Helper& helper, int index) {
  if (helper.pinned == index) return;
  helper.pinned = AllowCpus(&cpus_[static_cast<size_t>(index)], 1) ? index : -1;
}

// If other processes need the CPU of this thread, unpins the thread.
void Placement::Watch(Helper& helper) {
  if (++helper.starts < kWatchStarts) return;
  const long switches = Switches(), more = switches - helper.switches;
  helper.starts = 0, helper.switches = switches;
  if (helper.pinned < 0 || more <= kMaxSwitches) return;
  AllowCpus(cpus_.data(), cpus_.size());
  helper.pinned = -1;
  helper.free_until = CoarseMs() + kFreeMs;
}

void Placement::Start(Helper& helper) {
  Watch(helper);
  if (helper.pinned < 0 && helper.free_until > 0) {
    if (CoarseMs() < helper.free_until) return static_cast<void>(helper.cpu = Follow(helper.cpu));
    helper.free_until = 0;
    helper.last = Here();
  }
  if (helper.cpu < 0) {
    const int here = helper.last >= 0 ? helper.last : Here();
    helper.cpu = here >= 0 ? here : 0;
    users_.Enter(helper.cpu);
  }
  helper.cpu = users_.Choose(helper.cpu);
  Pin(helper, helper.cpu);
}

void Placement::End(Helper& helper) {
  if (helper.cpu < 0) return;
  Leave(helper.cpu);
  helper.last = helper.cpu;
  helper.cpu = -1;
}

const char* PinProblem() {
  const char* value = std::getenv("TERN_PIN");
  return !value || !*value || std::strcmp(value, "0") == 0 || std::strcmp(value, "1") == 0
             ? ""
             : "TERN_PIN is neither 0 nor 1";
}

}  // namespace tern
