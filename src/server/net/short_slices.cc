#include "server/net/short_slices.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tern::server {
namespace {

// struct sched_attr of the kernel's first version. Old C libraries do not declare it.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;  // ns; for the default policy, this is the time slice
  uint64_t deadline = 0, period = 0;
};

constexpr uint64_t kSliceNs = 100'000;  // the shortest slice that Linux accepts

}  // namespace

void UseShortSlices() {
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != 0) return;   // the operator chose another policy
  constexpr uint64_t kResetOnFork = 1;  // threads that this thread starts have ordinary slices
  attributes.flags |= kResetOnFork;
  attributes.runtime = kSliceNs;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace tern::server
