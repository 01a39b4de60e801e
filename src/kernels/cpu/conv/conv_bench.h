#pragma once

namespace tern::cpu {

// Prints the throughput of channels-last convolutions of ResNet-50 and MobileNet v2 in f32 and int8, and the
// ratio of their times. The rounds of both types alternate.
void PrintConvs(int threads, int rounds);

}  // namespace tern::cpu
