// Orders the steps of a plan so that they need less memory.
#pragma once
#include "runtime/plan/layout.h"

namespace tern {

// Returns the drafts in an order whose layout needs less memory, or in the given order if no better order is
// found. Dynamic steps and steps that generate random numbers keep their relative order. `bound` is the
// number of inputs and captures, which are the first slots.
std::vector<Draft> OrderDrafts(int bound, const Lowered& lowered, const std::vector<Draft>& drafts);

// Returns the bytes of the arena that a layout needs, without scratch memory.
size_t ArenaBytes(const Layout& layout);

}  // namespace tern
