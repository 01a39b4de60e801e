#include "kernels/cpu/simd/amx.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/vnni.h"

#if TERN_AMX_PRODUCTS
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tern::cpu {
namespace {

#if TERN_AMX_PRODUCTS
// Requests the permission to use tile data, which Linux grants per process. Fails on kernels before 5.16, if
// a sandbox denies the call, and if a thread has an alternate signal stack that is too small for tile data.
bool RequestTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool Detect() {
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;  // leaf 7, register EDX
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!CanEmulateAmx() || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kAll = kBf16 | kTile | kInt8;
  return (d & kAll) == kAll && RequestTiles();
}
#endif

bool IsWanted() {
  const char* isa = std::getenv("TERN_ISA");
  const std::string_view name = isa ? isa : "";
  return name.empty() || name == "amx";
}

std::atomic<AmxMode>& Limit() {
  static std::atomic<AmxMode> limit{IsWanted() && HasAmx() ? AmxMode::kOn : AmxMode::kOff};
  return limit;
}

}  // namespace

bool HasAmx() {
#if TERN_AMX_PRODUCTS
  static const bool has = Detect();
  return has;
#else
  return false;
#endif
}

bool CanEmulateAmx() {
  return BestSimd() == SimdLevel::kAvx512 && HasVnni(SimdLevel::kAvx512) && HasBf16Products();
}

AmxMode AmxLimit() { return Limit().load(std::memory_order_relaxed); }

AmxMode ActiveAmx() { return ActiveSimd() == SimdLevel::kAvx512 ? AmxLimit() : AmxMode::kOff; }

void LimitAmx(AmxMode mode) {
  const bool has = mode == AmxMode::kOn ? HasAmx() : TERN_AMX_PRODUCTS && CanEmulateAmx();
  Limit() = has ? mode : AmxMode::kOff;
}

TileThread& ThisTileThread() {
  constinit static thread_local TileThread thread{};
  return thread;
}

TileScope::TileScope() : thread_(ThisTileThread()) { ++thread_.scopes; }

TileScope::~TileScope() {
  if (--thread_.scopes > 0 || thread_.shape == 0) return;
  thread_.release();
  thread_.shape = 0;
}

}  // namespace tern::cpu
