// Learns how the execution time of a model depends on the batch size.
#pragma once
#include <chrono>
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// The decayed mean of the execution time for each batch size. A size without a recent measurement is
// estimated from the neighbouring sizes. Not thread-safe.
class LatencyModel {
 public:
  explicit LatencyModel(int max_batch_size);
  void Record(int batch_size, std::chrono::nanoseconds duration, Clock::time_point now);
  bool empty() const { return total_ == 0; }
  double Mean(int batch_size) const;  // ns; 0 if there is no measurement of any size
  // Returns whether this size has a recent measurement, and at least `measurements` measurements without a
  // long gap.
  bool Known(int batch_size, int measurements = 1) const;
  // Returns the average relative difference between a measurement and the mean of its batch size.
  double variation() const { return variation_; }

 private:
  struct Size {
    double mean = 0;
    int count = 0;       // measurements without a long gap between them
    bool first = false;  // the mean is that of the first execution ever
    Clock::time_point last;
  };

  std::vector<Size> sizes_;  // sizes_[n - 1] is for batch size n
  uint64_t total_ = 0;
  double variation_ = 0;
  Clock::time_point now_;  // the time of the last Record
};

}  // namespace tern::server
