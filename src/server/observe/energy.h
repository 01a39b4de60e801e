// Reads the energy counters of the machine's processors (RAPL), if the machine has them.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tern::server {

// Thread-safe. The counters of a package overflow after some minutes to hours, so Joules must be called now
// and then, for example once per second.
class EnergyMeter {
 public:
  // Reads the packages in the folder, intel-rapl:0 and so on, which AMD's processors have too.
  explicit EnergyMeter(const std::string& folder = "/sys/class/powercap");
  // Returns the energy since the construction, or nothing if the machine has no counters or this user may not
  // read them.
  std::optional<double> Joules();

 private:
  struct Package {
    std::string file;
    uint64_t last = 0, range = 0;  // microjoules
  };
  std::mutex mutex_;
  std::vector<Package> packages_;
  uint64_t sum_ = 0;
};

}  // namespace tern::server
