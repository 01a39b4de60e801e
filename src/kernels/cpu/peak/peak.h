// Measures the peak FLOP rate of this machine, against which kernels are compared.
#pragma once
#include "base/thread_pool.h"

namespace tern::cpu {

struct PeakRate {
  double f32 = 0;   // GFLOP/s of all threads of the workers together; a multiply-add counts as two
  double bf16 = 0;  // GFLOP/s of pair products accumulated in f32; 0 unless ActiveBf16Products()
  double int8 = 0;  // GOP/s of products of u8 and i8 accumulated in i32; 0 unless ActiveVnni()
  // The same in tile registers; 0 unless ActiveAmx() is AmxMode::kOn.
  double amx_bf16 = 0, amx_int8 = 0;

  // Return the rates of the instructions that kernels use.
  double best_bf16() const { return amx_bf16 > 0 ? amx_bf16 : bf16; }
  double best_int8() const { return amx_int8 > 0 ? amx_int8 : int8; }
};

// Runs short loops of independent multiply-adds in registers for up to 0.2 s per type and returns the best
// rates.
PeakRate MeasurePeak(const Workers& workers);

}  // namespace tern::cpu
