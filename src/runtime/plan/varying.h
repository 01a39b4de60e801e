// Describes plans that serve all lengths of the growing states up to a maximum. In such a plan, dims and
// shape values are linear functions of the length. SetLength evaluates them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/dim.h"

namespace tern {

struct Lowered;

// A dim that equals base + slope * length.
struct LinearDim {
  int64_t base = 0, slope = 0;
  int64_t At(int64_t length) const { return base + slope * length; }
  friend bool operator==(const LinearDim& a, const LinearDim& b) {
    return a.base == b.base && a.slope == b.slope;
  }
};
using LinearDims = std::vector<LinearDim>;

// The lengths that a plan serves, and the dims of its inputs for each length.
struct LengthRange {
  std::vector<LinearDims> inputs;  // dims of each bound value; empty for a value that is not a tensor
  int64_t max_length = 0;          // the largest length that the plan serves

  std::string ToString() const;  // used as a cache key; equal for equal ranges
};

// Returns the symbol that stands for the length during compilation.
Dim LengthSymbol();
// Returns the linear dim as an expression of LengthSymbol().
Dim SymbolicDim(const LinearDim& dim);

// How a plan's values depend on the length.
struct Varying {
  struct Values {
    int slot = 0;
    LinearDims dims;
  };
  int64_t max_length = 0;
  std::vector<Values> dims;      // dims of slots whose dims vary
  std::vector<Values> contents;  // elements of integer slots with fixed dims, such as shapes
};

// Replaces the symbolic length by `max_length` in all facts, and lists the slots that depend on the length.
// Fails with kUnsupported if a dim is not linear in the length.
Result<Varying> FixLength(Lowered& lowered, int64_t max_length);

}  // namespace tern
