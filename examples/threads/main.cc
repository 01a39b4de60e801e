// Four threads answer requests with one model. A request that is late is given up, and the thread goes on.
#include <tern/tern.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s MODEL MICROSECONDS\n", argv[0]), 2;
  auto model = tern::Predictor::Create(tern::Config(argv[1]).threads(1));
  if (!model.ok()) return std::fprintf(stderr, "%s\n", model.status().message().c_str()), 1;
  const auto limit = std::chrono::microseconds(std::atol(argv[2]));

  std::atomic<int> next{0}, answered{0}, late{0}, failed{0};
  auto work = [&](tern::Predictor mine) {  // a clone: its own memory, the same weights
    std::vector<float> image(28 * 28, 0.5f);
    if (!mine.Input("image").CopyFrom(image, {1, 1, 28, 28}).ok() || !mine.Run().ok())
      return;  // the first run packs weights
    while (next++ < 1000) {
      tern::RunOptions options;
      options.timeout = limit;
      const tern::Status ran = mine.Run(options);
      ++(ran.ok() ? answered : ran.code() == tern::Code::kCancelled ? late : failed);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    if (auto clone = model->Clone(); clone.ok()) threads.emplace_back(work, std::move(*clone));
  for (std::thread& thread : threads) thread.join();
  std::printf("%d answered, %d late, %d failed\n", answered.load(), late.load(), failed.load());
  return answered + late == 1000 ? 0 : 1;
}
