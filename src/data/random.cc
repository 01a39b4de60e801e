#include "data/random.h"

namespace tern::data {
namespace {

// The generator SplitMix64, which has the same results on every platform.
class Generator {
 public:
  Generator(uint64_t seed, std::string_view name) : state_(seed) {
    for (const char c : name) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  }
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  // Returns a number in [-1, 1) with 24 random bits. A float represents it exactly.
  double Uniform() { return static_cast<double>(Next() >> 40) * 0x1p-23 - 1; }

 private:
  uint64_t state_;
};

std::string Word(Generator& g) {
  std::string word(1 + g.Next() % 8, ' ');
  for (char& c : word) c = static_cast<char>('a' + g.Next() % 26);
  return word;
}

template <class T> void FillParts(Tensor& t, Generator& g) {
  for (int64_t i = 0; i < 2 * t.size(); ++i) t.data<T>()[i] = static_cast<T>(g.Uniform());
}

}  // namespace

Result<Tensor> RandomTensor(DType dtype, const Dims& dims, uint64_t seed, std::string_view name) {
  constexpr int64_t kMaxBytes = int64_t{1} << 33;
  const auto count = CheckedCount(dims, dtype);
  if (!count || BytesOf(dtype, static_cast<size_t>(*count)) > static_cast<size_t>(kMaxBytes))
    return ResourceExhausted("random ", Describe(dtype, dims), " for '", name, "' would take more than 8 GB");
  return Guard([&]() -> Result<Tensor> {
    Tensor t(dtype, dims);
    Generator g(seed, name);
    if (dtype == DType::kC64)
      FillParts<float>(t, g);
    else if (dtype == DType::kC128)
      FillParts<double>(t, g);
    else
      for (int64_t i = 0; i < t.size(); ++i) {
        if (dtype == DType::kString)
          t.data<std::string>()[i] = Word(g);
        else if (IsFloat(dtype))
          StoreDouble(t, i, g.Uniform());
        else
          StoreLong(t, i, static_cast<int64_t>(g.Next() >> 63));
      }
    return t;
  });
}

}  // namespace tern::data
