// The discrete Fourier transform of any length.
#pragma once
#include <complex>
#include <vector>

namespace tern {

// Replaces x[k] by the sum over n of x[n] exp(∓2πi·kn/N). The sign is minus forward, plus for the
// inverse. The result is not divided by N. Takes O(N log N).
void Fourier(std::vector<std::complex<double>>& x, bool inverse);

}  // namespace tern
