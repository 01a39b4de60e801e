// Measures the peak FLOP rate of this machine, against which kernels are compared.
#pragma once
#include "base/thread_pool.h"

namespace tern::cpu {

struct PeakRate {
  double f32 = 0;   // GFLOP/s of all threads of the workers together; a multiply-add counts as two
  double bf16 = 0;  // GFLOP/s of pair products accumulated in f32; 0 unless ActiveBf16Products()
  double int8 = 0;  // GOP/s of products of u8 and i8 accumulated in i32; 0 unless ActiveVnni()
};

// Runs short loops of independent multiply-adds in registers for up to 0.2 s per type and returns the best
// rates.
PeakRate MeasurePeak(const Workers& workers);

}  // namespace tern::cpu
