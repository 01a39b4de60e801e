#include "compress/quantize/mixed.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tern::compress {
namespace {

// Rounds to one decimal, for texts.
double Short(double v) { return std::round(v * 10) / 10; }

}  // namespace

Result<MixedPrecision> ReachSqnr(const Quantizer& quantizer, ErrorMeter& meter, double least,
                                 const ShowProgress& show) {
  MixedPrecision found;
  const auto measure = [&]() -> Status {
    TERN_ASSIGN(const Quantized made, quantizer.Write(found.keep));
    TERN_ASSIGN(const ErrorSums sums, meter.Outputs(made));
    found.sqnr = sums.sqnr();
    return {};
  };
  TERN_TRY(measure());
  if (found.sqnr >= least) return found;
  TERN_ASSIGN(found.alone, meter.OneByOne(show));
  const std::vector<Layer>& layers = quantizer.placement().layers;
  std::vector<size_t> order(layers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return found.alone[a].noise > found.alone[b].noise; });
  // Keeps one more layer in float per step at first, and more layers in later steps, to limit the steps.
  for (size_t kept = 0; found.sqnr < least;) {
    const size_t end = std::min(kept + 1 + kept / 4, layers.size() / 2);
    if (end == kept)
      return InvalidArgument("with the ", kept, " most sensitive of ", layers.size(),
                             " layers in float, the outputs have ", Short(found.sqnr), " dB, fewer than the ",
                             least, " dB that are wanted");
    for (; kept < end; ++kept)
      found.keep[layers[order[kept]].name()] =
          StrCat("quantized alone, it leaves ", Short(found.alone[order[kept]].sqnr()),
                 " dB of the outputs; all layers must leave ", least, " dB");
    TERN_TRY(measure());
  }
  return found;
}

}  // namespace tern::compress
