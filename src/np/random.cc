#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "np/rep.h"

namespace tern::v1::np {
namespace {

uint64_t SplitMix(uint64_t& state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

double Fraction(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t Random::Next() {
  const uint64_t out = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return out;
}

// Returns a number in [0, limit), all of which are equally likely. A limit of 0 means 2^64.
uint64_t Random::Below(uint64_t limit) {
  if (limit == 0) return Next();
  const uint64_t rejected = -limit % limit;  // 2^64 mod limit
  for (;;) {
    const unsigned __int128 product = static_cast<unsigned __int128>(Next()) * limit;
    if (static_cast<uint64_t>(product) >= rejected) return static_cast<uint64_t>(product >> 64);
  }
}

Array Random::uniform(const Shape& shape, double low, double high) {
  return Make([&] {
    Store x = New(Type::kF64, shape);
    for (int64_t i = 0; i < x.size(); ++i) x.data<double>()[i] = low + (high - low) * Fraction(Next());
    return x;
  });
}

// Each pair of numbers u, v in (0, 1] and [0, 1) gives sqrt(-2 ln u) times the cosine and the sine of 2 pi v.
Array Random::normal(const Shape& shape, double mean, double deviation) {
  return Make([&] {
    Store x = New(Type::kF64, shape);
    double* out = x.data<double>();
    for (int64_t i = 0; i < x.size(); i += 2) {
      const double radius = deviation * std::sqrt(-2 * std::log(1 - Fraction(Next())));
      const double angle = 2 * std::numbers::pi * Fraction(Next());
      out[i] = mean + radius * std::cos(angle);
      if (i + 1 < x.size()) out[i + 1] = mean + radius * std::sin(angle);
    }
    return x;
  });
}

Array Random::integers(const Shape& shape, int64_t low, int64_t high) {
  return Make([&] {
    if (low >= high) Fail("integers from ", low, " to below ", high);
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    Store x = New(Type::kI64, shape);
    for (int64_t i = 0; i < x.size(); ++i)
      x.data<int64_t>()[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + Below(span));
    return x;
  });
}

Array Random::permutation(int64_t n) {
  return Make([&] {
    Store x = New(Type::kI64, {n});
    std::iota(x.data<int64_t>(), x.data<int64_t>() + n, 0);
    for (int64_t i = n - 1; i > 0; --i)
      std::swap(x.data<int64_t>()[i], x.data<int64_t>()[Below(static_cast<uint64_t>(i) + 1)]);
    return x;
  });
}

}  // namespace tern::v1::np
