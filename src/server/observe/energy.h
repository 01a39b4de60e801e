// Reads the energy counters of the machine's processors (RAPL), if the machine has them.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tern::server {

// Thread-safe. The counters of a package overflow after minutes to hours, so Joules must be called regularly,
// for example once per second.
class EnergyMeter {
 public:
  // Reads the packages intel-rapl:0, intel-rapl:1 and so on in the folder. Processors of AMD have the same
  // files.
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
