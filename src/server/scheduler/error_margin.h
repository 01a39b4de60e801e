// Learns the errors of predictions.
#pragma once
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// A high quantile of the recent errors of a prediction, which is a margin that most predictions need. The
// caller chooses the unit. Not thread-safe.
class ErrorMargin {
 public:
  // `error` is the actual value minus the predicted one.
  void Add(double error, Clock::time_point now);
  // Returns the margin, which is never negative. With few errors it is at least kFirst.
  double value() const { return value_; }

  static constexpr double kFirst = 0.5;

 private:
  struct Entry {
    double error = 0;
    Clock::time_point time;
  };
  std::vector<Entry> entries_;  // a ring of the last errors
  size_t next_ = 0;
  std::vector<double> sorted_;  // scratch memory
  double value_ = kFirst;
};

}  // namespace tern::server
