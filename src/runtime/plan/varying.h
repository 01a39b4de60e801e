// Plans that serve every length of a growing state up to a capacity: dims and shape contents that depend on
// the length are linear functions of it, evaluated in each run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/dim.h"

namespace tern {

struct Lowered;

// base + slope * length.
struct LinearDim {
  int64_t base = 0, slope = 0;
  int64_t At(int64_t length) const { return base + slope * length; }
  friend bool operator==(const LinearDim& a, const LinearDim& b) {
    return a.base == b.base && a.slope == b.slope;
  }
};
using LinearDims = std::vector<LinearDim>;

// What is known of a plan's inputs before it is made for all lengths.
struct LengthRange {
  std::vector<LinearDims> inputs;  // dims of each bound value; empty for one that is not a tensor
  int64_t most = 0;                // the largest length that the plan serves

  std::string ToString() const;  // of equal ranges the same
};

// The symbol that stands for the length while a plan is made.
Dim LengthSymbol();
// The dim of a value with these linear dims, in terms of the symbol.
Dim SymbolicDim(const LinearDim& dim);

// How a plan's values depend on the length.
struct Varying {
  struct Values {
    int slot = 0;
    LinearDims dims;
  };
  int64_t most = 0;
  std::vector<Values> dims;      // of slots whose dims vary
  std::vector<Values> contents;  // elements of slots that hold shapes; their dims are fixed
};

// Turns what Lower found for a symbolic length into a plan's facts: types get their dims for the length
// `most`, and what depends on the length is listed. Fails with kUnsupported where something does not depend
// on it linearly.
Result<Varying> FixLength(Lowered& lowered, int64_t most);

}  // namespace tern
