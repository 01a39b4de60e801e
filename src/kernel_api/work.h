// The amount of work of a kernel, and the rates that convert it to an estimated time.
#pragma once

namespace tern {

// Operation counts of one run. The rates of the algorithm on each instruction set
// (runtime/cost/cost_rates.inc) convert these counts to time.
struct Work {
  const char* algorithm = "move";  // name of a row of cost_rates.inc; other names fail a TERN_CHECK
  double products = 0;             // multiply-adds, including the padding of vectors and tiles
  double weights = 0;              // bytes of weights
  double moved = 0;                // bytes of other operands and of results
  double transformed = 0;          // elements that the kernel copies, rounds or transforms internally
};

// Rates of one processor and instruction set.
class Rates {
 public:
  virtual ~Rates() = default;
  // Returns the time of `work` on one thread. Fails a TERN_CHECK if the algorithm has no rates.
  virtual double Microseconds(const Work& work) const = 0;
};

}  // namespace tern
