// How fast this machine multiplies and adds: the limit that kernels are measured against.
#pragma once
#include "base/thread_pool.h"

namespace tern::cpu {

struct PeakRate {
  double f32 = 0;   // GFLOP/s of all of the workers' threads together, a multiply-add counting as two
  double bf16 = 0;  // of pair products accumulated in f32; 0 where no such instruction is in use
};

// Runs short loops of independent multiply-adds in registers, for some hundredths of a second, and takes the
// best.
PeakRate MeasurePeak(const Workers& workers);

}  // namespace tern::cpu
