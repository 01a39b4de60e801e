// The discrete Fourier transform of any length.
#pragma once
#include <complex>
#include <vector>

namespace tern {

// Replaces x[k] by the sum over n of x[n] exp(∓2πi·kn/N), where N is the length of x. The sign is minus for
// the forward transform and plus for the inverse. The result is not divided by N. Takes O(N log N).
void Fourier(std::vector<std::complex<double>>& x, bool inverse);

}  // namespace tern
