// How much a kernel has to do, and how long that takes.
#pragma once

namespace tern {

// Counts of what a run has to do. The rates of the algorithm for each instruction set turn them into time
// (runtime/cost/cost_rates.inc).
struct Work {
  const char* algorithm = "move";  // a line of cost_rates.inc; any other fails a check
  double products = 0;             // multiply-adds, those in the padding of vectors and tiles included
  double weights = 0;              // bytes of weights
  double moved = 0;                // bytes of other operands and of results
  double transformed = 0;          // elements that are copied, rounded or transformed on the way
};

// Turns counts into time for one processor and instruction set.
class Rates {
 public:
  virtual ~Rates() = default;
  // On one thread. Fails a check where the algorithm has no rates.
  virtual double Microseconds(const Work& work) const = 0;
};

}  // namespace tern
