// For tests: waits for something that another thread does.
#pragma once
#include <chrono>
#include <thread>

namespace tern::server {

// Waits until the condition holds, at most 20 s. Returns whether it holds.
template <class F> bool Eventually(F&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

}  // namespace tern::server
