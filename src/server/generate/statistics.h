// What an engine has generated, for metrics.
#pragma once
#include <array>
#include <atomic>

#include "server/core/statistics.h"

namespace tern::server {

enum class GenerationEnd { kStop, kLength, kCancelled, kError };
inline constexpr int kGenerationEnds = 4;
inline constexpr const char* kGenerationEndNames[kGenerationEnds] = {"stop", "length", "abort", "error"};

// Thread-safe.
struct GenerationStatistics {
  std::atomic<uint64_t> prompt_tokens{0}, generated_tokens{0}, steps{0}, step_rows{0};
  std::array<std::atomic<uint64_t>, kGenerationEnds> ended{};
  LatencyHistogram first_token, between_tokens, whole, queue;
};

}  // namespace tern::server
