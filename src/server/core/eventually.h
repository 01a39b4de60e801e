// For tests: waits for something that another thread does.
#pragma once
#include <chrono>
#include <thread>

namespace tern::server {

#ifdef __SANITIZE_THREAD__  // programs are about ten times as slow
constexpr std::chrono::seconds kEventually(120);
#else
constexpr std::chrono::seconds kEventually(20);
#endif

// Waits until the condition holds, at most kEventually. Returns whether it holds.
template <class F> bool Eventually(F&& condition) {
  const auto end = std::chrono::steady_clock::now() + kEventually;
  while (!condition() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

}  // namespace tern::server
