#include "runtime/bind/cpu_target.h"

#include "base/strings.h"
#include "kernels/cpu/peak/bf16_gain.h"
#include "kernels/cpu/simd/active_isa.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/vnni.h"
#include "runtime/bind/cpu_kernels.h"

namespace tern {
namespace {

std::vector<Device> WithCpu(std::vector<Device> devices, std::vector<const KernelTable*> tables) {
  devices.push_back({"cpu", nullptr, std::move(tables)});
  return devices;
}

}  // namespace

CpuTarget::CpuTarget() : CpuTarget(CpuKernels()) {}
CpuTarget::CpuTarget(std::vector<const KernelTable*> tables) : CpuTarget({}, std::move(tables)) {}
CpuTarget::CpuTarget(std::vector<Device> others, std::vector<const KernelTable*> tables)
    : Target(WithCpu(std::move(others), std::move(tables))) {}

std::string CpuTarget::isa() const {
  return StrCat(cpu::Architecture(), " ", cpu::ActiveIsa(), cpu::ActiveBf16Products() ? " bf16" : "",
                cpu::ActiveVnni() ? " vnni" : "", cpu::ActiveAmx() == cpu::AmxMode::kOff ? "" : " amx");
}

bool CpuTarget::fast_bf16() const { return cpu::Bf16Pays(); }

const Target& DefaultTarget() {
  static const Target* target = new CpuTarget();
  return *target;
}

const Target& ReferenceTarget() {
  static const Target* target = new CpuTarget(std::vector<const KernelTable*>{});
  return *target;
}

}  // namespace tern
