// A Target describes what a model is compiled for: devices with their kernels and memories, and preferences
// of the optimizer.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/memory_space.h"
#include "kernel_api/kernel_table.h"
#include "kernel_api/layout_costs.h"

namespace tern {

// A memory space and the tables of the kernels whose operands are in it. Target::Select compares the
// estimates of all tables of a device, so their rates must use the same unit. Among equal estimates, the
// earlier table wins.
struct Device {
  std::string name;               // "cpu", "cuda:0"
  MemorySpace* memory = nullptr;  // null for host memory
  std::vector<const KernelTable*> tables;
};

// A Target is immutable and must outlive the models that are compiled for it.
class Target {
 public:
  virtual ~Target() = default;

  // Devices in order of preference. A node runs on the first device with a legal kernel. The last device is
  // the host, which also runs reference evaluators.
  const std::vector<Device>& devices() const { return devices_; }
  // Returns the kernels of an op on all devices, in the order of devices().
  std::vector<const KernelEntry*> KernelsOf(std::string_view op) const;
  // Returns the legal kernel with the lowest estimate on the first device that has a legal kernel. Returns
  // null if no device has a legal kernel. If `pack` is not null, considers only kernels with this pack
  // layout.
  const KernelEntry* Select(const KernelQuery& query, const std::string* pack = nullptr) const;
  // Returns the memory space of the kernel's operands and results. Null means host memory.
  MemorySpace* MemoryOf(const KernelEntry& entry) const;

  // Identifies the instruction set, such as "x86_64 avx512 bf16". Targets with the same text pack weights in
  // the same layouts. The names of packed weights in files contain this text, and so do the keys of tuning
  // records.
  virtual std::string isa() const = 0;
  // Whether the target has bf16 multiply instructions.
  virtual bool fast_bf16() const { return false; }
  virtual LayoutCosts layout_costs() const { return {}; }

 protected:
  explicit Target(std::vector<Device> devices) : devices_(std::move(devices)) {}

 private:
  const std::vector<Device> devices_;
};

}  // namespace tern
