// Products of matrices of 16 x 64 bytes in tile registers (AMX-INT8 and AMX-BF16). Sources named
// *_amx_simd.cc are compiled only for x86-64 with AVX512-VNNI, AVX512-BF16 and AMX, into the namespace
// avx512_amx.
#pragma once
#include <cstdint>

#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// Whether the build contains the kernels for AMX.
#if defined(__x86_64__) && !defined(TERN_ONE_ISA)
#define TERN_AMX_PRODUCTS 1
#else
#define TERN_AMX_PRODUCTS 0
#endif

// kEmulated computes what the instructions compute, in plain loops over tile registers in memory. It is for
// tests on machines without AMX.
enum class AmxMode : uint8_t { kOff, kOn, kEmulated };

// Returns whether the processor has AMX-INT8, AMX-BF16, AVX512-VNNI and AVX512-BF16, and the operating system
// permits this process to use tile registers. The first call requests the permission for all threads.
bool HasAmx();
bool CanEmulateAmx();  // whether the processor has AVX512-VNNI and AVX512-BF16
// Returns how kernels use AMX: AmxLimit() at the level avx512, and kOff at other levels. Kernels for bf16 use
// AMX only if ActiveBf16Products() is true as well, and kernels for 8 bits only if ActiveVnni() is true.
AmxMode ActiveAmx();
// Sets the mode, for tests. A mode that this machine lacks becomes kOff. Initially AMX is on if the machine
// has it and TERN_ISA is not set or is `amx`. Must not be called while kernels run.
void LimitAmx(AmxMode mode);
AmxMode AmxLimit();  // returns what LimitAmx set

// The tile registers of a thread. Loading a configuration takes as long as several products, so the tiles of
// a loop share it.
struct TileThread {
  int32_t scopes;     // number of TileScopes of this thread
  uint32_t shape;     // the loaded configuration, or 0
  void (*release)();  // releases the registers if `shape` is not 0
};
// Returns the state of the calling thread.
TileThread& ThisTileThread();

// A loop of tiles. A configuration that is loaded within the scope stays loaded until the end of the thread's
// outermost scope. Then the registers are released, so that the operating system need not save them. Without
// a scope, each tile loads and releases its configuration.
class TileScope {
 public:
  TileScope();
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  TileThread& thread_;
};

}  // namespace tern::cpu
