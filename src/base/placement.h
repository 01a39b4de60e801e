// Places the threads of the pool on CPUs, so that no two of them share a core while another core is free.
#pragma once
#include <atomic>
#include <vector>

namespace tern {

// Counts the users of each CPU, which are threads of the pool and threads that run a model. CPUs have indices
// from 0, first one CPU of each core. Thread-safe. Two threads may choose at the same time, so a choice is
// good but not always the best. A thread chooses again before each loop.
class CpuUsers {
 public:
  // cores[i] is the core of CPU i.
  explicit CpuUsers(const std::vector<int>& cores);
  int count() const { return static_cast<int>(cpus_.size()); }

  void Enter(int cpu) { cpus_[static_cast<size_t>(cpu)].users.fetch_add(1, std::memory_order_relaxed); }
  void Leave(int cpu) { cpus_[static_cast<size_t>(cpu)].users.fetch_sub(1, std::memory_order_relaxed); }
  // Returns the CPU that a user of `cpu` should use from now on, and counts it there. This is `cpu`, unless
  // the CPU or its core has other users and another CPU has fewer.
  int Choose(int cpu);

 private:
  struct alignas(64) Cpu {
    std::atomic<int> users{0};
    std::vector<int> siblings;  // other CPUs of the same core
  };
  // Users of the CPU without `own`, and of its siblings. A user of the same CPU counts like many siblings.
  int Load(const Cpu& cpu, int own) const;

  std::vector<Cpu> cpus_;
};

// Places the threads of the process on the CPUs that the process may use. Placement is on if the system hides
// which CPUs share a core, because the system's scheduler then lets threads share cores while other cores are
// free. TERN_PIN=1 switches placement on for other systems, TERN_PIN=0 switches it off. Placement is always
// off if the process may use at most two CPUs or cores, or if UsableCores() is larger than the number of
// CPUs.
class Placement {
 public:
  // Null if placement is off. The first call may measure the topology, see base/topology.h.
  static Placement* Get();

  // For threads that run models. Such a thread is counted on a CPU, but not pinned. `counted` is the index of
  // the CPU on which the calling thread is counted so far, or -1 if it is not counted. Follow counts the
  // thread on the CPU on which it runs now and returns the index of that CPU, or -1 if the process may not
  // use the CPU. Leave ends the count.
  int Follow(int counted);
  void Leave(int counted) {
    if (counted >= 0) users_.Leave(counted);
  }

  // For threads of the pool. A thread calls Start, which pins it, before it helps in a loop. It calls End
  // before it sleeps. If other processes take its CPU, Start unpins the thread for 100 ms.
  struct Helper {
    int cpu = -1;         // the CPU on which the thread is counted; -1 while it sleeps
    int pinned = -1;      // the CPU to which the thread is pinned; -1 if it is free to move
    int last = -1;        // the CPU on which it was counted last
    int starts = 0;       // calls of Start since `switches` was read
    long switches = 0;    // how often the system had taken the CPU from this thread when last read
    long free_until = 0;  // time of the monotonic clock in ms until which the thread stays unpinned
  };
  void Start(Helper& helper);
  void End(Helper& helper);

 private:
  explicit Placement(const std::vector<int>& cpus, const std::vector<int>& cores);
  int Here() const;
  void Pin(Helper& helper, int index);
  void Watch(Helper& helper);

  const std::vector<int> cpus_;  // number of each CPU in the system
  std::vector<int> index_;       // by number in the system; -1 if this process may not use the CPU
  CpuUsers users_;
};

// Says what is wrong with the value of TERN_PIN. Returns "" if the variable is valid or not set.
const char* PinProblem();

}  // namespace tern
