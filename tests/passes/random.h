// Pseudo-random numbers from a seed. They are the same on every machine.
#pragma once
#include <cstdint>
#include <vector>

namespace tern {

class Random {
 public:
  // The sequences of any two seeds are independent, even those of `seed` and `seed + 1`.
  explicit Random(uint64_t seed) : state_(seed) { state_ = Next() ^ (seed * 0xd1342543de82ef95ull); }

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  int Below(int n) { return static_cast<int>(Next() % static_cast<uint64_t>(n)); }
  int Between(int low, int high) { return low + Below(high - low + 1); }
  bool Chance(double p) { return Real(0, 1) < p; }
  double Real(double low, double high) {
    return low + (high - low) * static_cast<double>(Next() >> 11) / 9007199254740992.0;
  }
  template <class T> const T& Pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(Below(static_cast<int>(from.size())))];
  }

 private:
  uint64_t state_;
};

}  // namespace tern
