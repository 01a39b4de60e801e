#include <cmath>
#include <numbers>

#include "data/audio/features.h"

namespace tern::data {
namespace {

// Returns the window at `phase` in [0, 1], where 0 and 1 are its first and last sample.
double WindowAt(Window window, double phase) {
  const double angle = 2 * std::numbers::pi * phase;
  switch (window) {
    case Window::kHann:
      return 0.5 - 0.5 * std::cos(angle);
    case Window::kHamming:
      return 0.54 - 0.46 * std::cos(angle);
    case Window::kBlackman:
      return 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
    case Window::kBartlett:
      return 1 - std::abs(2 * phase - 1);
    case Window::kPovey:
      return std::pow(0.5 - 0.5 * std::cos(angle), 0.85);
    case Window::kRectangular:
      break;
  }
  return 1;
}

}  // namespace

std::vector<double> MakeWindow(Window window, int64_t length, bool periodic) {
  std::vector<double> out(static_cast<size_t>(std::max<int64_t>(length, 0)), 1.0);
  const double span = static_cast<double>(periodic ? length : length - 1);
  for (size_t i = 0; i < out.size() && out.size() > 1; ++i)
    out[i] = WindowAt(window, static_cast<double>(i) / span);
  return out;
}

}  // namespace tern::data
