// Limits what inlining makes of a file.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tern::import {

// Counts the nodes of a model while its functions are inlined. Without a limit, a small file could need any
// amount of time and memory, because each of 40 functions may call the next one twice.
class InlinedLimit {
 public:
  // `stored` is the number of nodes in the file. `most` limits only models that have more once they are
  // inlined.
  InlinedLimit(int64_t stored, int64_t most)
      : most_(std::max(stored, std::min(most, kAnyModel + kGrowth * stored))), left_(most_) {}

  // Returns false if the model has too many nodes.
  bool Count(int64_t nodes = 1) { return (left_ -= nodes) >= 0; }
  int64_t most() const { return most_; }

 private:
  static constexpr int64_t kAnyModel = 50'000, kGrowth = 100;
  int64_t most_, left_;
};

}  // namespace tern::import
