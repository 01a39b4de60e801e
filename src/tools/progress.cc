#include "tools/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace tern::tools {

Progress::Progress(std::string title) : title_(std::move(title)), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_ > 0) fmt::print(stderr, "\r\033[K");
}

void Progress::Show(double share) {
  const double now = watch_.Milliseconds();
  if (!terminal_ || now < 1000 || now - shown_ < 100) return;
  shown_ = now;
  const auto filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * 30);
  fmt::print(stderr, "\r\033[K{} [{}{}] {:.0f}%", title_, std::string(filled, '#'),
             std::string(30 - filled, ' '), std::clamp(share, 0.0, 1.0) * 100);
  std::fflush(stderr);
}

}  // namespace tern::tools
