// What a model is compiled for: devices with their kernels and memories, and what they are good at.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/memory_space.h"
#include "kernel_api/kernel_table.h"
#include "kernel_api/layout_costs.h"

namespace tern {

// A memory and the kernels that work on values in it. The tables compete by their estimates, so their rates
// must have one unit; an earlier table wins ties.
struct Device {
  std::string name;               // "cpu", "cuda:0"
  MemorySpace* memory = nullptr;  // null: the host's
  std::vector<const KernelTable*> tables;
};

// Immutable. Outlives the models that are made for it.
class Target {
 public:
  virtual ~Target() = default;

  // Devices in the order of preference: a node runs on the first that has a legal kernel for it. The last one
  // is the host, which also runs reference evaluators.
  const std::vector<Device>& devices() const { return devices_; }
  // Kernels of an op on all devices, in order.
  std::vector<const KernelEntry*> KernelsOf(std::string_view op) const;
  // The legal kernel with the least estimate on the first device that has one, or null. pack: among those
  // with this layout of weights only.
  const KernelEntry* Select(const KernelQuery& query, const std::string* pack = nullptr) const;
  // Where the kernel's operands and results live; null: in the host's memory.
  MemorySpace* MemoryOf(const KernelEntry& entry) const;

  // Tells machines apart whose kernels pack weights in other ways or take other times, as text: "x86_64
  // avx512 bf16". It is a part of names in files and of tuning records.
  virtual std::string isa() const = 0;
  // Whether the target has instructions for products of bf16.
  virtual bool fast_bf16() const { return false; }
  virtual LayoutCosts layout_costs() const { return {}; }

 protected:
  explicit Target(std::vector<Device> devices) : devices_(std::move(devices)) {}

 private:
  const std::vector<Device> devices_;
};

}  // namespace tern
