// A minimal application: `consumer MODEL` runs the model with inputs of ones and prints the first output.
#include <tern/tern.hpp>

#include <cstdio>
#include <thread>

static int Fail(const tern::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 2;
}

int main(int argc, char** argv) {
  tern::Config config(argc > 1 ? argv[1] : "");
  config.threads(2);
  auto predictor = tern::Predictor::Create(config);
  if (!predictor.ok()) return Fail(predictor.status());

  const std::vector<float> ones(2 * 4, 1.0f);
  tern::Tensor input = predictor->Input(predictor->InputNames()[0]);
  if (tern::Status fed = input.CopyFrom(ones, {2, 4}); !fed.ok()) return Fail(fed);
  if (tern::Status ran = predictor->Run(); !ran.ok()) return Fail(ran);

  auto clone = predictor->Clone();
  if (!clone.ok()) return Fail(clone.status());
  tern::Status other;
  std::thread thread([&] {
    other = clone->Input(0).CopyFrom(ones, {2, 4});
    if (other.ok()) other = clone->Run();
  });
  thread.join();
  if (!other.ok()) return Fail(other);
  if (clone->Output(0).ToVector<float>() != predictor->Output(0).ToVector<float>()) return 1;

  const tern::Tensor output = predictor->Output(predictor->OutputNames()[0]);
  std::printf("%s %s", output.name().c_str(), tern::Name(output.dtype()));
  for (const int64_t d : output.shape()) std::printf(" %lld", static_cast<long long>(d));
  for (size_t i = 0; i < output.size(); ++i) std::printf(" %.6f", output.data<float>()[i]);
  std::printf("\n");
  return 0;
}
