#include "server/observe/energy.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tern::server {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> ReadNumber(const std::string& file) {
  std::ifstream stream(file);
  uint64_t value = 0;
  if (!(stream >> value)) return std::nullopt;
  return value;
}

// Packages are intel-rapl:0, their parts intel-rapl:0:1.
bool IsPackage(const std::string& name) {
  constexpr std::string_view kPrefix = "intel-rapl:";
  return name.starts_with(kPrefix) && name.find(':', kPrefix.size()) == std::string::npos;
}

}  // namespace

EnergyMeter::EnergyMeter(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!IsPackage(it->path().filename())) continue;
    const std::string file = it->path() / "energy_uj";
    const auto now = ReadNumber(file);
    const auto range = ReadNumber(it->path() / "max_energy_range_uj");
    if (now) packages_.push_back({file, *now, range.value_or(0)});
  }
}

std::optional<double> EnergyMeter::Joules() {
  const std::lock_guard lock(mutex_);
  if (packages_.empty()) return std::nullopt;
  for (Package& package : packages_) {
    const auto now = ReadNumber(package.file);
    if (!now) continue;
    const uint64_t overflow = *now < package.last ? package.range : 0;
    if (*now + overflow >= package.last) sum_ += *now + overflow - package.last;
    package.last = *now;
  }
  return static_cast<double>(sum_) * 1e-6;
}

}  // namespace tern::server
