// The gates of one step of a recurrent layer in one pass, for the usual functions: sigmoid for gates, tanh
// for the rest.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// One sample. Sums of input and state come in, each of n elements.
struct LstmRow {
  const float *input = nullptr, *output = nullptr, *forget = nullptr, *fresh = nullptr;
  const float* peephole = nullptr;  // of input, output, forget, so many elements apart; or null
  int64_t peephole_step = 0;
  float* c = nullptr;
  float* h = nullptr;
  float* y = nullptr;  // a second place for h, or null
  int64_t n = 0;
  float clip = 0;  // of sums; infinite: none
};

struct GruRow {
  const float *update = nullptr, *reset = nullptr;  // sums
  const float* fresh = nullptr;                     // from the input
  const float* candidate = nullptr;                 // from the state
  bool late = false;                                // the candidate is multiplied with the reset gate already
  const float* before = nullptr;                    // the old h
  float* h = nullptr;
  float* y = nullptr;      // a second place for h, or null
  float* gated = nullptr;  // where reset * before goes
  int64_t n = 0;
  float clip = 0;
};

struct CellTable {
  void (*lstm)(const LstmRow& row);
  void (*gru_reset)(const GruRow& row);  // gated = sigmoid(reset) * before
  void (*gru)(const GruRow& row);        // the new h
};
TERN_SIMD_TABLE(CellTable, CellSimd)

}  // namespace tern::cpu
