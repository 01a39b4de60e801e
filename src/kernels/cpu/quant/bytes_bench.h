#pragma once

namespace tern::cpu {

// Prints the bytes per second that elementwise kernels and pooling of 8-bit tensors read and write, beside
// those of memcpy. The tensors fit into the L2 cache.
void PrintBytes(int threads, int rounds);

}  // namespace tern::cpu
