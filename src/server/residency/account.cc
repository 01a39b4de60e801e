#include "server/residency/account.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tern::server {
namespace {

constexpr double kHalfLife = 60;  // seconds after which a request counts half
constexpr double kLeastLoad = 1e-3;
constexpr int kMostDoublings = 5;
constexpr std::chrono::seconds kFirstPause{1};

}  // namespace

void Account::Touch(Clock::time_point now) {
  if (touched != Clock::time_point() && now > touched)
    uses *= std::exp2(-std::chrono::duration<double>(now - touched).count() / kHalfLife);
  uses += static_cast<double>(hits.exchange(0, std::memory_order_relaxed));
  touched = now;
}

double Account::Value() const {
  const double seconds = std::max(kLeastLoad, std::chrono::duration<double>(load_time).count());
  return uses * seconds / static_cast<double>(std::max<uint64_t>(1, cost));
}

// Twice the file's size, because the packed weights exist beside those of the file until these are freed.
uint64_t Account::Estimate(uint64_t budget) const {
  return cost > 0 ? cost : std::min(budget, std::max<uint64_t>(1, 2 * file_bytes));
}

void Account::Fail(const Status& status, Clock::time_point now) {
  error = status;
  const int doublings = std::min(failures++, kMostDoublings);
  retry_at = now + kFirstPause * (1 << doublings);
}

void Account::Succeed(uint64_t bytes, std::chrono::nanoseconds duration) {
  cost = bytes;
  load_time = loads == 0 ? duration : (3 * load_time + duration) / 4;  // one load may be slow by chance
  error = {};
  failures = 0;
  ++loads;
}

uint64_t FileBytes(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    const auto size = fs::file_size(path, error);
    return error ? 0 : size;
  }
  uint64_t sum = 0;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    const auto size = it->file_size(ignored);
    if (!ignored) sum += size;
  }
  return sum;
}

}  // namespace tern::server
