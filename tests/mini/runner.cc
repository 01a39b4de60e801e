// mini_runner MODEL OUT SIZE: runs a model on fixed pseudo-random inputs, and writes the bytes of all outputs
// to the file OUT. Open dims have this SIZE. It uses only the public API, so it links with the full libtern
// and with a mini build.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace {

int Fail(const std::string& message) {
  std::fprintf(stderr, "mini_runner: %s\n", message.c_str());
  return 1;
}

// The same numbers on every machine: a 64-bit linear congruential generator, in [-1, 1).
class Numbers {
 public:
  double Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 40) / (1 << 23) - 1;
  }

 private:
  uint64_t state_ = 1;
};

template <class T>
tern::Status Feed(tern::Tensor& input, const tern::Shape& shape, size_t count, double factor) {
  Numbers numbers;
  std::vector<T> data(count);
  for (T& value : data) value = static_cast<T>(numbers.Next() * factor);
  return input.CopyFrom(data, shape);
}

tern::Status Fill(tern::Tensor input, int64_t size) {
  tern::Shape shape;
  size_t count = 1;
  for (const tern::DeclaredDim& dim : input.declared_dims()) {
    shape.push_back(dim.value < 0 ? size : dim.value);
    count *= static_cast<size_t>(shape.back());
  }
  switch (input.dtype()) {
    case tern::DType::kF32:
      return Feed<float>(input, shape, count, 1);
    case tern::DType::kI64:
      return Feed<int64_t>(input, shape, count, 3);
    case tern::DType::kI32:
      return Feed<int32_t>(input, shape, count, 3);
    default:
      return tern::Status(tern::Code::kUnsupported,
                          "input '" + input.name() + "' is neither f32, i32 nor i64");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return Fail("usage: mini_runner MODEL OUT SIZE");
  tern::Config config(argv[1]);
  config.threads(1);
  auto predictor = tern::Predictor::Create(config);
  if (!predictor.ok()) return Fail(predictor.status().message());
  for (const std::string& name : predictor->InputNames())
    if (tern::Status fed = Fill(predictor->Input(name), std::atoll(argv[3])); !fed.ok())
      return Fail(fed.message());
  if (tern::Status ran = predictor->Run(); !ran.ok()) return Fail(ran.message());
  std::FILE* out = std::fopen(argv[2], "wb");
  if (!out) return Fail(std::string("cannot write '") + argv[2] + "'");
  for (const std::string& name : predictor->OutputNames()) {
    const tern::Tensor output = predictor->Output(name);
    std::fwrite(output.raw(), 1, output.bytes(), out);
  }
  return std::fclose(out) == 0 ? 0 : Fail("cannot write the outputs");
}
