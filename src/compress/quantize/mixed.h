// Mixed precision: which layers stay float so that the outputs are precise enough.
#pragma once
#include "compress/quantize/errors.h"

namespace tern::compress {

struct MixedPrecision {
  std::map<std::string, std::string> keep;  // layers that stay float, with the reason
  std::vector<ErrorSums>
      alone;        // per layer: errors of the outputs if only it is quantized; empty if not measured
  double sqnr = 0;  // of the outputs, with these layers in float
};

// Quantizes all layers, then keeps the most sensitive ones in float until the outputs have a signal-to-noise
// ratio of `least` dB on the meter's samples. The first steps keep one more layer each, and later steps keep
// several more. Fails if half of the layers are not enough.
Result<MixedPrecision> ReachSqnr(const Quantizer& quantizer, ErrorMeter& meter, double least,
                                 const ShowProgress& show);

}  // namespace tern::compress
