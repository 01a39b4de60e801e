// How the windows of 8-bit convolutions are divided into units, which fill dwords.
#pragma once
#include "kernels/cpu/conv/nhwc_jobs.h"

namespace tern::cpu {

// A unit is a contiguous part of a window: a row of the kernel with all its channels, or, if there are groups
// or taps are dilated along rows, one tap of a group. Packed weights start a new dword with each unit. The
// elements of x behind a unit, up to the end of its last dword, are multiplied by zero weights.
struct NhwcUnits {
  int64_t joined;                          // groups that are merged into one
  bool by_rows;                            // a unit is a row of the kernel
  int64_t channels;                        // channels of a merged group
  int64_t count;                           // units of a window
  int64_t elements;                        // elements of a unit
  int64_t dwords;                          // dwords of a unit
  explicit NhwcUnits(const ConvShape& s);  // reads only what NhwcByteConv::Pack reads
};

}  // namespace tern::cpu
