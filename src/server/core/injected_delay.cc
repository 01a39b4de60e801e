#include "server/core/injected_delay.h"

#include <array>
#include <fstream>
#include <mutex>
#include <thread>

namespace tern::server {
namespace injected {

std::atomic<bool> active{false};

namespace {

struct State {
  std::mutex mutex;
  std::string path;
  Clock::time_point read;
  std::array<int, kPhases> delays{};  // ms
};

State& TheState() {
  static auto* state = new State();
  return *state;
}

void Read(State& state) {
  state.delays = {};
  std::ifstream file(state.path);
  std::string name;
  int delay = 0;
  while (file >> name >> delay)
    for (size_t i = 0; i < state.delays.size(); ++i)
      if (name == PhaseName(static_cast<Phase>(i))) state.delays[i] = delay;
}

}  // namespace

void Wait(Phase phase) {
  constexpr std::chrono::milliseconds kReadAgain{10};
  State& state = TheState();
  int delay = 0;
  {
    const std::lock_guard lock(state.mutex);
    const Clock::time_point now = Clock::now();
    if (now - state.read >= kReadAgain) {
      Read(state);
      state.read = now;
    }
    delay = state.delays[static_cast<size_t>(phase)];
  }
  if (delay > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay));
}

}  // namespace injected

void UseDelayFile(const std::string& path) {
  injected::State& state = injected::TheState();
  const std::lock_guard lock(state.mutex);
  state.path = path;
  state.read = {};
  injected::active = !path.empty();
}

}  // namespace tern::server
