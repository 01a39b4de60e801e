// Banks of triangular filters on the mel scale.
#pragma once
#include "data/audio/features.h"
#include "data/audio/lanes.h"

namespace tern::data {

// One filter: its coefficients for the bins [first, first + weights.size()).
struct MelFilter {
  int64_t first = 0;
  std::vector<double> weights;
};
using MelBank = std::vector<MelFilter>;

// Returns filters for the n_fft / 2 + 1 bins of a transform, as librosa and torchaudio define them.
Result<MelBank> MakeMelBank(const MelOptions& options, int64_t n_fft);
// Returns filters as Kaldi defines them: triangles on the mel scale, without the bin at half of the sample
// rate.
Result<MelBank> MakeKaldiMelBank(const KaldiOptions& options, int64_t n_fft);

// Multiplies the filter with the power of each bin.
[[gnu::always_inline]] inline void ApplyFilter(const MelFilter& filter, const Lanes* power, Lanes& out) {
  Lanes sum{};
  for (size_t i = 0; i < filter.weights.size(); ++i)
    sum += power[static_cast<size_t>(filter.first) + i] * filter.weights[i];
  out = sum;
}

// Returns rows of the orthonormal DCT-II: [count, size] in row-major order.
std::vector<double> DctMatrix(int64_t count, int64_t size);

}  // namespace tern::data
