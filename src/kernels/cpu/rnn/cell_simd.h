// Computes the gates of one step of a recurrent layer in one pass. Supports only the default activation
// functions, which are sigmoid for gates, and tanh for candidates and outputs.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// One sample. input, output, forget and fresh are pre-activations (sums of input and state products) of n
// elements each. `fresh` is the candidate for the cell state.
struct LstmRow {
  const float *input = nullptr, *output = nullptr, *forget = nullptr, *fresh = nullptr;
  // Peephole weights of the gates input, output and forget, with a stride of peephole_step. May be null.
  const float* peephole = nullptr;
  int64_t peephole_step = 0;
  float* c = nullptr;
  float* h = nullptr;
  float* y = nullptr;  // a second destination of h, or null
  int64_t n = 0;
  float clip = 0;  // pre-activations are clipped to [-clip, clip]; infinity means no clipping
};

struct GruRow {
  const float *update = nullptr, *reset = nullptr;  // pre-activations
  const float* fresh = nullptr;                     // input product of the candidate for h
  const float* candidate = nullptr;                 // state product of the candidate for h
  bool reset_applied = false;                       // `candidate` already includes the reset gate
  const float* before = nullptr;                    // h of the previous step
  float* h = nullptr;
  float* y = nullptr;      // a second destination of h, or null
  float* gated = nullptr;  // output of gru_reset: reset * before
  int64_t n = 0;
  float clip = 0;
};

struct CellTable {
  void (*lstm)(const LstmRow& row);
  void (*gru_reset)(const GruRow& row);  // gated = sigmoid(reset) * before
  void (*gru)(const GruRow& row);        // computes the new h
};
TERN_SIMD_TABLE(CellTable, CellSimd)

}  // namespace tern::cpu
