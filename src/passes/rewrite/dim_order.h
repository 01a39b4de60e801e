// What ops say about dims, for rules that change the order of these.
#pragma once
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/views.h"

namespace tern {

bool IsOneOf(const Node& node, std::initializer_list<std::string_view> ops);
// Every dim is 1, so that their order means nothing.
bool AllOnes(const Value* v);

// Element by element of operands that broadcast.
bool BroadcastsOperands(const Node& node);
// The result's dims are the first operand's in any order, when MoveAxes tells the rest: one operand element
// by element, or ops whose other inputs and attributes name axes that are known.
bool FollowsFirst(const Node& node);

// An axis of what a Transpose by perm reads, as one of its result.
int64_t MovedAxis(int64_t axis, const Permutation& perm);
// A node's attributes and inputs that name dims, for operands that come permuted. `ints`: makes a constant.
void MoveAxes(const Node& node, const Permutation& perm,
              const std::function<Value*(const std::vector<int64_t>&)>& ints, Attrs& attrs,
              std::vector<Value*>& inputs);

}  // namespace tern
