// The order in which a plan's steps run, chosen for little memory.
#pragma once
#include "runtime/plan/layout.h"

namespace tern {

// The drafts in an order for which the layout needs less memory than for the one given; the same drafts where
// there is none. Steps that draw random numbers or whose shapes depend on data keep their order among
// themselves.
std::vector<Draft> OrderDrafts(int bound, const Lowered& lowered, const std::vector<Draft>& drafts);

// Bytes of the arena that a layout asks for, without scratch memory.
size_t ArenaBytes(const Layout& layout);

}  // namespace tern
